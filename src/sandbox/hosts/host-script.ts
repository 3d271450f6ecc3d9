/** Formats the script that turns new namespaces into a host: its root, devices and names, and its first process. Pure. */
import { formatShellCommand, quoteShellWord as quote } from '../../errors/shell-words.ts'

export interface HostFiles {
  readonly name: string
  /** The read-only root file system. */
  readonly root: string
  /** Gets `upper`, `work` and `root`: what the host writes stays in `upper`. */
  readonly folder: string
  /** Files and folders of this machine that the host sees at the same path. */
  readonly binds: readonly string[]
  /** Shell lines that run in the new root before it becomes `/`. */
  readonly setup: readonly string[]
  /** The first process; it must collect the processes that lose their parent. */
  readonly init: readonly string[]
}

/** Collects ended processes until it is killed. */
export const waitingInit: readonly string[] = ['/bin/sh', '-c', 'cd /; while :; do sleep 3600 & wait $!; done']

const devices = ['null 1 3', 'zero 1 5', 'full 1 7', 'random 1 8', 'urandom 1 9', 'tty 5 0', 'net/tun 10 200']

/** Prints `ready` when only the first process is left to start. */
export function hostScript({ name, root, folder, binds, setup, init }: HostFiles): string {
  const [upper, work, target] = ['upper', 'work', 'root'].map((kind) => quote(`${folder}/${kind}`))
  return `set -e
mkdir -p ${upper} ${work} ${target}
mount --make-rprivate /
mount -t overlay -o ${quote(`lowerdir=${root},upperdir=${folder}/upper,workdir=${folder}/work`)} overlay ${target}
cd ${target}
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm dev/net
for device in ${formatShellCommand(devices)}; do set -- $device; mknod -m 666 dev/$1 c $2 $3; done
mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
for stream in 0:stdin 1:stdout 2:stderr; do ln -s fd/\${stream%:*} dev/\${stream#*:}; done
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mkdir run/lock
hostname ${quote(name)}
echo ${quote(name)} >etc/hostname
ip link set lo up
${binds.map(bindLine).join('')}${setup.map((line) => `${line}\n`).join('')}mkdir -p .old
pivot_root . .old
umount -l /.old
echo ready
exec ${formatShellCommand(init)}
`
}

function bindLine(path: string): string {
  const target = quote(`.${path}`)
  const parent = quote(`.${path.replace(/\/[^/]*$/, '')}`)
  return `if [ -d ${quote(path)} ]; then mkdir -p ${target}; else mkdir -p ${parent}; touch ${target}; fi
mount --bind ${quote(path)} ${target}
`
}
