# Sourced by ./run and ./test from the project's root: installs what is missing on Debian 12.
# The lists are the whole truth about what is needed; README.md names the part a C++ user needs.

packages_build=(git python3 cmake ninja-build g++ ccache mold zlib1g-dev nlohmann-json3-dev libcli11-dev
    libtbb-dev libflatbuffers-dev flatbuffers-compiler libspdlog-dev libgtest-dev librapidcheck-dev libboost1.81-dev
    libbullet-dev libstb-dev libsqlite3-dev libzstd-dev)
packages_wasm=(clang-19 lld-19 llvm-19 libc++-19-dev-wasm32 libclang-rt-19-dev-wasm32 wasi-libc)
packages_page=(nodejs npm)
packages_test=(chromium clang-format-14)

# Clones in different folders share what ccache keeps.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

say() { printf '\n== %s\n' "$*"; }
stop() { printf '%s\n' "$2" >&2; exit "$1"; }

# The names among the arguments that are not installed. Node and npm also come from elsewhere (NodeSource, nvm).
missing_packages() {
    local installed name
    installed=" $(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p' |
        tr '\n' ' ' || true) "
    for name in "$@"; do
        [[ $installed == *" $name "* ]] && continue
        [[ $name == nodejs ]] && command -v node >/dev/null && continue
        [[ $name == npm ]] && command -v npm >/dev/null && continue
        echo "$name"
    done
}

install_packages() {
    command -v dpkg-query >/dev/null || stop 2 "This script needs Debian 12 (or a kin) with: $*"
    local missing
    missing=$(missing_packages "$@") || stop 1 "Cannot tell which packages are missing"
    [[ -n $missing ]] || return 0
    missing=(${missing//$'\n'/ })
    if [[ $EUID != 0 ]]; then
        echo "Packages are missing. Install them with this line, then start again:" >&2
        stop 2 "sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
    fi
    say "Installing ${#missing[@]} packages: ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"
}

# The page's libraries, as locked in client/package-lock.json. npm writes its own copy of the lock last.
install_npm() {
    local major
    major=$(node -p 'process.versions.node.split(".")[0]')
    ((major >= 18)) || stop 2 "node $major is too old: 18 or newer is needed (Debian 12 has 18)"
    [[ client/node_modules/.package-lock.json -nt client/package-lock.json ]] && return 0
    say "Installing the page's libraries (npm ci)"
    npm ci --prefix client --no-audit --no-fund
}

# configure NAME [OPTION]...: only when it was not configured with the same options before; Ninja itself configures
# anew when a CMake file changed.
configure() {
    local name=$1 mark=build/$1/.configured
    [[ -f build/$name/build.ninja && "$(cat "$mark" 2>/dev/null)" == "$*" ]] && return 0
    say "Configuring $name"
    cmake --preset "$@"
    echo "$*" >"$mark"
}

# One build folder serves ./run, ./test and whoever works on the code.
configure_release() { configure release -DTALUS_SERVER=ON -DTALUS_BENCH=ON; }
build_release() { configure_release && cmake --build build/release; }

# The WebAssembly module and the page around it, in client/dist.
build_page() {
    configure wasm
    say "Building the WebAssembly module (clang)"
    cmake --build build/wasm
    local made=client/dist/index.html
    [[ -e $made && -z $(find client build/wasm/bin/talus.wasm -path client/node_modules -prune -o -path client/dist \
        -prune -o -type f -newer $made -print -quit) ]] && return 0
    say "Building the page"
    npm run build --prefix client
}
