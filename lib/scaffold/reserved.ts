/** Words that Python keeps for itself; as folder names are lower-cased, only those in lower case matter. */
export const PYTHON_KEYWORDS: ReadonlySet<string> = new Set(
  "and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield".split(
    " ",
  ),
);

/** Top-level modules of Python's standard library, 3.11 to 3.14, without those that begin with an underscore. */
const STANDARD_LIBRARY =
  "abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect builtins bz2 calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall compression concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle types typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo";

/** What the kit and the packages below it are imported as. */
const KIT =
  "a2a annotated_types anthropic anyio attr attrs bat certifi click dotenv fastapi google grpc h11 httpcore httpx httpx_sse idna jsonpatch jsonpointer jsonschema langchain langchain_anthropic langchain_core langchain_deepseek langchain_mcp_adapters langchain_nvidia_ai_endpoints langchain_ollama langchain_openai langgraph langsmith mcp multipart numpy ollama openai openinference opentelemetry orjson ormsgpack packaging pydantic pydantic_core pydantic_settings regex requests rich sniffio sse_starlette starlette tenacity tiktoken tqdm typing_extensions typing_inspection urllib3 uvicorn websockets wrapt xxhash yaml zstandard";

/** Folders of a blueprint that are something else than an agent, or would be taken for it. */
const FOLDERS = "eval src tests dist build docs __main__ __pycache__";

const MODULES: ReadonlySet<string> = new Set(`${STANDARD_LIBRARY} ${KIT}`.split(" "));
const TAKEN_FOLDERS: ReadonlySet<string> = new Set(FOLDERS.split(" "));

/** Why a blueprint's agent cannot have a name, or null where it can. */
export function whyReserved(name: string): string | null {
  if (PYTHON_KEYWORDS.has(name)) return "is a word of Python itself";
  if (MODULES.has(name)) return "is a module that agents import, which its folder would hide";
  if (TAKEN_FOLDERS.has(name)) return "is the name of a folder with another meaning";
  return null;
}

/** Packages whose name is not that of a module of theirs. */
const PACKAGES =
  "bat-adk a2a-sdk pyyaml python-dotenv python-multipart protobuf pyinstaller uv pip setuptools";
const TAKEN_PACKAGES: ReadonlySet<string> = new Set(
  `${KIT} ${PACKAGES}`.split(" ").map((name) => name.replaceAll("_", "-")),
);

/** Whether a project of that name would hide a package that it needs from the resolver. */
export function isNeededPackage(project: string): boolean {
  return TAKEN_PACKAGES.has(project.replace(/[._-]+/g, "-"));
}
