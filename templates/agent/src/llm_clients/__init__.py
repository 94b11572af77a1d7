# Written by bat from the *_client.py files of this folder, anew whenever a client is added:
# what is changed here by hand may be lost.
__CLIENT_EXPORTS__
