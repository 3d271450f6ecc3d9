# usage: customize-image.sh ROOT FILES OUT
# mmdebstrap runs it on the finished root folder of a node. FILES has agent.sh and the programs; the kernel goes to OUT.
set -eu
root=$1 files=$2 out=$3

cp "$root"/boot/vmlinuz-* "$out/vmlinuz"
cp "$root"/boot/initrd.img-* "$out/initrd"
# The name of this machine would win over the one that a node gets.
rm -f "$root/etc/hostname"
echo '/dev/vda / ext4 defaults,noatime 0 1' >"$root/etc/fstab"

install -m 755 "$files/nmstatectl" "$root/usr/bin/nmstatectl"
install -D -m 755 -t "$root/opt/cni/bin" "$files"/cni/*
install -D -m 755 -t "$root/opt/metallb" "$files/speaker"
install -D -m 755 "$files/agent.sh" "$root/usr/lib/stackloom/agent"
cat >"$root/etc/systemd/system/stackloom-agent.service" <<'UNIT'
[Service]
ExecStart=/usr/lib/stackloom/agent
Restart=always
[Install]
WantedBy=multi-user.target
UNIT
# An interface without a policy stays as it is, as on a node whose other interfaces belong to the cluster.
mkdir -p "$root/etc/NetworkManager/conf.d"
printf '[main]\nno-auto-default=*\n[keyfile]\nunmanaged-devices=interface-name:cluster0\n[logging]\nlevel=WARN\n[connectivity]\nenabled=false\n' >"$root/etc/NetworkManager/conf.d/stackloom.conf"
# Without KVM every message costs time that nmstate needs.
mkdir -p "$root/etc/systemd/journald.conf.d"
printf '[Journal]\nStorage=none\n' >"$root/etc/systemd/journald.conf.d/stackloom.conf"
# Without KVM on a busy machine NetworkManager may need longer than systemd's minute and a half.
mkdir -p "$root/etc/systemd/system.conf.d"
printf '[Manager]\nDefaultTimeoutStartSec=15min\n' >"$root/etc/systemd/system.conf.d/stackloom.conf"
chroot "$root" systemctl -q enable stackloom-agent dbus-broker
# Each node starts it after it has its own identity.
chroot "$root" systemctl -q disable NetworkManager NetworkManager-wait-online NetworkManager-dispatcher
chroot "$root" systemctl -q mask apt-daily.timer apt-daily-upgrade.timer fstrim.timer e2scrub_all.timer e2scrub_reap \
  dpkg-db-backup.timer systemd-timesyncd systemd-logind systemd-hostnamed getty@tty1 serial-getty@ttyS0 2>/dev/null
chroot "$root" systemctl -q set-default multi-user.target
rm -rf "$root"/usr/share/doc/* "$root"/usr/share/locale/* "$root"/var/cache/apt/*
