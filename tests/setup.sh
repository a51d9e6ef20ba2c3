# tools/setup: package names that exist on Debian and on Ubuntu, and sizes said before anything is installed.
# release only
set -u
fail() { echo "FAILED: $*"; exit 1; }
setup=$SOURCE_DIR/tools/setup

# A system made of four small scripts: $have is installed, $fake can be installed, calls of apt-get are written to log.
mkdir bin
cat > bin/dpkg-query <<'END'
#!/bin/sh
for p in $have; do echo "$p install ok installed"; done
END
cat > bin/apt-cache <<'END'
#!/bin/sh
[ "$1" = pkgnames ] && printf "%s\n" $fake
END
cat > bin/apt-get <<'END'
#!/bin/sh
echo "apt-get $*" >> log
case " $* " in *" --assume-no "*)
    echo "0 upgraded, 7 newly installed, 0 to remove and 0 not upgraded."
    echo "Need to get 12.9 MB of archives."
    echo "After this operation, 29.1 MB of additional disk space will be used." ;;
esac
END
cat > bin/id <<'END'
#!/bin/sh
echo "$user"
END
chmod +x bin/*
run() { : > log; PATH=$PWD/bin:$PATH "$setup" "$@" > out 2>&1; }
everything() { "$setup" --names "$1" | tr '|' '\n' | tr -d '?'; }
without() { everything test | grep -vxF "$1"; }
export have fake user

# Nothing installed, root: names of this archive, sizes first.
user=0 have='' fake="$(without libjpeg62-turbo-dev | grep -vxF -e libjpeg-dev -e chromium -e chromium-browser)" # an Ubuntu without libjpeg-dev
run test || fail "setup failed: $(cat out)"
grep -q 'installing .*libjpeg-turbo8-dev' out || fail "libjpeg-turbo8-dev is not chosen: $(cat out)"
grep -q chromium log && fail "a package that does not exist is asked for: $(cat log)"
grep -q 'Need to get 12.9 MB' out && grep -q '29.1 MB of additional disk' out && grep -q '7 packages' out || fail "no sizes: $(cat out)"
grep -n . log | sed -n 's/^1:.*--assume-no.*/first/p' | grep -q first || fail "sizes are not asked first: $(cat log)"
grep -q '^apt-get install -y .* libjpeg-turbo8-dev' log || fail "nothing is installed: $(cat log)"

fake=$(without libjpeg-turbo8-dev) # Debian
run build && grep -q 'installing .* libjpeg-dev ' out || fail "libjpeg-dev is not chosen: $(cat out)"

# One of the alternatives is enough.
have=$(everything test | grep -vxF -e libjpeg-dev -e libjpeg-turbo8-dev -e chromium-browser -e qemu-user-static)
run test && grep -q 'every package is there' out || fail "an alternative that is installed does not count: $(cat out)"

# Not root: nothing is done.
user=1000 have=''
run build
[ $? = 2 ] || fail "without root the status is not 2"
[ ! -s log ] && grep -q 'apt-get install cmake ' out || fail "without root: $(cat out log)"

# A fresh image has no lists: they are fetched, then names are chosen.
user=0 fake=''
run build && sed -n 1p log | grep -q 'apt-get update' || fail "the list of packages is not fetched: $(cat log)"

# The archive of this machine, where there is one, has a package for every line.
PATH=${PATH#"$PWD"/bin:}
apt-cache pkgnames > names 2> /dev/null
has() { grep -qxF "$1" names; }
has cmake || exit 0
for set in build test bench; do
    for line in $("$setup" --names $set); do
        found=
        for name in $(printf '%s' "${line%\?}" | tr '|' ' '); do
            if has "$name"; then found=1; fi
        done
        case $line in *\?) found=1 ;; esac
        [ -n "$found" ] || fail "$set: this archive has none of $line"
    done
done
