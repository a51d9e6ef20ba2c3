# What `make install` leaves is complete: a program of ours runs from there, a program of others compiles with pkg-config
# and with CMake, and nothing points into the build tree.
# release only
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$BUILD_DIR" --prefix "$work/usr" > "$work/log" || { cat "$work/log"; exit 1; }

"$work/usr/bin/regard" --version
"$work/usr/bin/regard" version > /dev/null
test -s "$work/usr/share/man/man1/regard.1"
test -s "$work/usr/share/man/man1/regard-train.1"
test -s "$work/usr/share/bash-completion/completions/regard"
mv "$work/usr" "$work/moved" # modules are found wherever the library is
"$work/moved/bin/regard" explain transformer > /dev/null
if [ -f "$BUILD_DIR/regard-figures.so" ]; then
    "$work/moved/bin/regard" explain positions --png "$work/p.png" > "$work/log" 2>&1 && test -s "$work/p.png" || { cat "$work/log"; exit 1; }
fi
mv "$work/moved" "$work/usr"
lib=$(dirname "$(find "$work/usr" -name 'libregard.so.0')")
readelf -d "$lib/libregard.so" | grep -q 'SONAME.*libregard.so.0'
if readelf -d "$work/usr/bin/regard" | grep -q "$BUILD_DIR"; then echo "the program points into the build tree"; exit 1; fi

cat > "$work/main.c" << 'END'
#include <regard/base.h>
#include <regard/version.h>
#include <stdio.h>
int main(void)
{
    return printf("%s %zu\n", rg_version(), sizeof(rg_real)) < 0;
}
END
export PKG_CONFIG_PATH="$lib/pkgconfig"
# shellcheck disable=SC2046
"$CC" "$work/main.c" -o "$work/main" $(pkg-config --cflags --libs regard) # relocated: the file says where it is
pkg-config --variable=includedir regard | grep -q "^$work" || { echo "regard.pc is not relocatable"; exit 1; }
LD_LIBRARY_PATH="$lib" "$work/main"

mkdir "$work/user"
cat > "$work/user/CMakeLists.txt" << 'END'
cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(regard 0.1 REQUIRED)
add_executable(user ../main.c)
target_link_libraries(user PRIVATE regard::regard)
END
cmake -S "$work/user" -B "$work/user/build" -DCMAKE_PREFIX_PATH="$work/usr" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/user/build" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/user/build/user"
