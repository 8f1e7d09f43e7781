# ctest-labels: root
#
# cases/secrets S9 for the settings of the whole machine: in a mount namespace of its own root lays a
# throw-away layer over /etc and writes a file there.
load ../helpers/common

with_pip_conf()
{
    rm -rf "$T/layer"
    mkdir -p "$T/layer/u" "$T/layer/w"
    set_bare
    # shellcheck disable=SC2016
    run unshare -m sh -ec 'layer=$1 text=$2; shift 2
        mount -t overlay overlay -o "lowerdir=/etc,upperdir=$layer/u,workdir=$layer/w" /etc
        printf "$text" >/etc/pip.conf; exec "$@"' - "$T/layer" "$1" "${BARE[@]}" "$SBOX" "${@:2}"
}

@test "S9: /etc/pip.conf is shown without its logins, and as it is when it holds none" {
    chown root:root "$P"
    with_pip_conf '[global]\nindex-url = https://u:canary-77@pip.corp.example/s\ntimeout = 9\n' \
        run cat /etc/pip.conf
    assert_status 0
    assert_output_has https://pip.corp.example/s
    assert_output_has 'timeout = 9'
    refute_output_has canary-77
    with_pip_conf '[global]\ntimeout = 9\n' run cat /etc/pip.conf
    assert_equal "$output" $'[global]\ntimeout = 9'
}
