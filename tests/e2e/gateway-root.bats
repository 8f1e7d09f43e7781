# What /etc/resolv.conf may be on a host. Root, because each is made in a mount namespace.
# ctest-labels: root
load ../helpers/common

# resolver_with LINK: /etc/resolv.conf is a link to it; "-": absent. What a client inside finds.
resolver_with()
{
    set_bare
    run --separate-stderr unshare -m -- bash -c '
        link=$1; shift
        mount -t tmpfs none /mnt
        mkdir /mnt/upper /mnt/work
        mount -t overlay none -o lowerdir=/etc,upperdir=/mnt/upper,workdir=/mnt/work /etc
        mount -t tmpfs none /run
        mkdir -p /run/systemd/resolve
        echo "nameserver 192.0.2.53" | tee /run/systemd/resolve/stub-resolv.conf >/etc/real.conf
        rm -f /etc/resolv.conf
        [[ $link == - ]] || ln -s "$link" /etc/resolv.conf
        exec "$@"' - "$1" "${BARE[@]}" "$SBOX_BIN_DIR/sbox-gateway" run sh -c '
        getent ahostsv4 allowed.test | head -n 1 | cut -d" " -f1; cat /etc/resolv.conf'
}

@test "names work whatever /etc/resolv.conf is: a link into /run or /etc, dangling, absent" {
    local link
    for link in ../run/systemd/resolve/stub-resolv.conf /run/systemd/resolve/stub-resolv.conf \
        real.conf /etc/real.conf ../run/none/resolv.conf /run/none/resolv.conf /var/none/resolv.conf; do
        resolver_with "$link"
        assert_equal "$link: ${lines[*]}" "$link: 198.18.1.0 nameserver 198.18.0.1 options edns0 timeout:5"
    done
    for link in - none.conf /etc/none.conf; do
        resolver_with "$link"
        assert_equal "$link: ${lines[*]}" "$link: 198.18.1.0"
    done
}
