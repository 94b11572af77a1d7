#!/usr/bin/env bash
# A real container engine and a registry for tests, on a machine without a Docker daemon.
#
#   container-engine.sh up DIR PORT   installs what is missing (Debian packages, as root), writes DIR/bin/docker and
#                                     starts a registry on 127.0.0.1:PORT
#   container-engine.sh down DIR      stops that registry
#
# Then, with DIR/bin first in PATH: docker build, push, pull, run. Images begin FROM scratch: nothing needs to be pulled.
# Exits 1, saying so, where it cannot be had. Outside DIR only packages are installed.
set -euo pipefail
verb=${1:?up or down} dir=${2:?a folder}

has_all() { command -v podman && command -v runc && command -v docker-registry; } >/dev/null

install_missing() {
  has_all && return
  command -v apt-get >/dev/null || { echo "container-engine.sh: needs podman, runc and docker-registry; only Debian's apt-get is known here" >&2; exit 1; }
  [ "$(id -u)" = 0 ] || { echo "container-engine.sh: needs podman, runc and docker-registry; only root can install them" >&2; exit 1; }
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    podman buildah runc crun fuse-overlayfs uidmap docker-registry >/dev/null
}

case $verb in
up)
  port=${3:?a port}
  install_missing >&2
  mkdir -p "$dir/bin" "$dir/registry" "$dir/storage" "$dir/run"
  dir=$(cd "$dir" && pwd)
  cat >"$dir/containers.conf" <<CONF
[containers]
default_ulimits = []
netns = "host"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
CONF
  cat >"$dir/bin/docker" <<SHIM
#!/usr/bin/env bash
# docker's build, push, pull and run through podman; other verbs go through unchanged
export CONTAINERS_CONF="$dir/containers.conf"
base=(podman --root "$dir/storage" --runroot "$dir/run" --storage-driver=vfs --runtime runc)
verb=\${1:-}
[ \$# -gt 0 ] && shift
case \$verb in
  build) exec "\${base[@]}" build --isolation=chroot "\$@" ;;
  push | pull) exec "\${base[@]}" "\$verb" --tls-verify=false "\$@" ;;
  run) exec "\${base[@]}" run --ulimit host "\$@" ;;
  *) exec "\${base[@]}" "\$verb" "\$@" ;;
esac
SHIM
  chmod +x "$dir/bin/docker"
  cat >"$dir/registry.yml" <<YML
version: 0.1
storage: {filesystem: {rootdirectory: $dir/registry}}
http: {addr: 127.0.0.1:$port}
YML
  setsid docker-registry serve "$dir/registry.yml" >"$dir/registry.log" 2>&1 </dev/null &
  pid=$!
  echo "$pid" >"$dir/registry.pid"
  for _ in $(seq 100); do
    kill -0 "$pid" 2>/dev/null || break
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then exit 0; fi
    sleep 0.1
  done
  echo "container-engine.sh: the registry did not start: $(tail -n 3 "$dir/registry.log")" >&2
  exit 1
  ;;
down)
  [ -f "$dir/registry.pid" ] && kill "$(cat "$dir/registry.pid")" 2>/dev/null || true
  rm -f "$dir/registry.pid"
  ;;
*)
  echo "usage: container-engine.sh up DIR PORT | down DIR" >&2
  exit 2
  ;;
esac
