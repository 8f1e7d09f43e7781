# Usage: completion-test.bash FILE: loads the bash completion and asks it as the shell would.
source "$1" || exit 1
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
mkdir a-directory
: >a-file
failed=0

# complete_at WORD…: the last word is the one to complete.
complete_at()
{
    COMP_WORDS=(sbox "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    _sbox
}

offers()
{
    local word=$1 reply
    shift
    complete_at "$@"
    for reply in "${COMPREPLY[@]}"; do if [[ $reply == "$word" ]]; then return 0; fi; done
    echo "sbox $*: '$word' is not offered; got: ${COMPREPLY[*]:0:20}"
    failed=1
}

offers_not()
{
    local word=$1 reply
    shift
    complete_at "$@"
    for reply in "${COMPREPLY[@]}"; do
        if [[ $reply == "$word" ]]; then echo "sbox $*: '$word' is offered" failed=1; failed=1; fi
    done
}

offers verify ver
offers ls l
offers --version --
offers --offline --
offers_not --fast --
offers --fast verify --
offers --all verify --fast --
offers_not --offline verify --
offers -C lock -
offers a-directory lock ''
offers_not a-file lock ''
offers a-file run --ro ''
offers a-file run --ro = a-
offers a-directory -C ''
offers_not a-file -C ''
offers full run --verify ''
offers fast run --verify = f
offers full run --verify =
offers PWD -e PW
offers ls run -n l
offers a-file cat a-
offers a-file run -n cat a-
offers_not --offline run cat --
offers a-file -- cat a-
offers bash -o HOSTS bas
exit $failed
