# Read by bin/notewell and bin/test: sets $python to a Python that can run
# notewell, or says what is missing and exits with 1.

# Prints "fine", or what is wrong; must parse on the oldest Python.
probe='
import sys
version = ".".join(map(str, sys.version_info[:3]))
if not (3, 11) <= sys.version_info[:2] <= (3, 13):
    print(version)
else:
    try:
        import ensurepip, venv
        print("fine")
    except ImportError:
        print(version + " without its venv module")
'
python=
found=
for candidate in python3 python3.13 python3.12 python3.11 \
    "${PYENV_ROOT:-${HOME:-}/.pyenv}"/versions/3.1[123].*/bin/python3; do
    # Run, not looked up: a pyenv shim can be there and yet start nothing.
    verdict=$("$candidate" -I -c "$probe" 2>/dev/null) || continue
    if [ "$verdict" = fine ]; then
        python=$candidate
        break
    fi
    found="$found${found:+, }$candidate is $verdict"
done

if [ -z "$python" ]; then
    {
        echo "notewell needs Python 3.11, 3.12 or 3.13 with its venv module."
        echo "Found: ${found:-no Python at all}."
        echo "Install one, then run this again; for example:"
        echo "  apt install python3 python3-venv    (Debian 12, Ubuntu 24.04 or later)"
        echo "  brew install python@3.13            (macOS)"
        echo "  pyenv install 3.13                  (anywhere)"
    } >&2
    exit 1
fi
