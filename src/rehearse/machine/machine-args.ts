/**
 * Builds the command line of QEMU. A machine starts without NICs: they are plugged in after it is restored, so that one
 * saved machine serves for every node of every site. Pure.
 */
import { quoteShellWord } from '../../errors/shell-words.ts'

export type Accelerator = 'kvm' | 'tcg'

/** Files of a machine inside the enclosure. */
export interface MachineSockets {
  readonly agent: string
  readonly qmp: string
  /** Its serial port. */
  readonly console: string
  /** What the serial port has written. */
  readonly log: string
}

export interface MachineFiles {
  readonly kernel: string
  readonly initrd: string
  readonly disk: string
}

export interface MachineSettings extends MachineFiles {
  readonly accelerator: Accelerator
  readonly sockets: MachineSockets
  /** Memory and devices of a saved machine; absent: it boots. */
  readonly restoreFrom?: string
  /** Whether the disk keeps what the machine writes. */
  readonly writable: boolean
}

/** Eight NICs that a node may have, and one for the cluster: each has a slot of its own. */
const NIC_SLOTS = 9
const MEMORY_MIB = 288
/** QEMU's own default takes 1 GiB for translated code after a while. */
const TRANSLATION_MIB = 112

export const QEMU = 'qemu-system-x86_64'

/** An older processor is emulated faster: its programs use no wide vector instructions. */
const accelerators: Readonly<Record<Accelerator, readonly string[]>> = {
  kvm: ['-accel', 'kvm', '-cpu', 'host'],
  tcg: ['-accel', `tcg,thread=multi,tb-size=${TRANSLATION_MIB}`, '-cpu', 'Nehalem'],
}

export function machineArgs(settings: MachineSettings): readonly string[] {
  const { accelerator, kernel, initrd, disk, sockets, restoreFrom, writable } = settings
  const options: Readonly<Record<string, string | readonly string[]>> = {
    '-kernel': kernel,
    '-initrd': initrd,
    '-drive': `file=${escapeValue(disk)},if=virtio,format=qcow2${writable ? '' : ',snapshot=on'}`,
    '-chardev': [
      `socket,id=agent,path=${escapeValue(sockets.agent)},server=on,wait=off`,
      `socket,id=console,path=${escapeValue(sockets.console)},server=on,wait=off,logfile=${escapeValue(sockets.log)}`,
    ],
    '-device': 'virtserialport,chardev=agent,name=stackloom.agent',
    '-qmp': `unix:${escapeValue(sockets.qmp)},server=on,wait=off`,
    '-serial': 'chardev:console',
    ...(restoreFrom !== undefined && { '-incoming': `exec:cat ${quoteShellWord(restoreFrom)}` }),
  }
  return [
    ...machineHardware(accelerator),
    ...Object.entries(options).flatMap(([name, values]) => [values].flat().flatMap((value) => [name, value])),
  ]
}

/** What a saved machine depends on beside its image: another list of devices or another processor cannot read it. */
export function machineHardware(accelerator: Accelerator): readonly string[] {
  return [...accelerators[accelerator], ...devices]
}

/**
 * Without mitigations: switching page tables at every system call is the most expensive thing to emulate. Without random
 * addresses: QEMU translates a program again for each address that it is loaded at.
 */
const KERNEL_SETTINGS =
  'root=/dev/vda rw console=ttyS0 quiet net.ifnames=0 mitigations=off nowatchdog audit=0 norandmaps'

const devices: readonly string[] = [
  '-append',
  KERNEL_SETTINGS,
  ...Object.entries({ '-machine': 'q35', '-smp': '1', '-m': String(MEMORY_MIB), '-display': 'none' }).flat(),
  '-nodefaults',
  '-no-user-config',
  ...['virtio-rng-pci', 'virtio-serial-pci'].flatMap((device) => ['-device', device]),
  ...Array.from({ length: NIC_SLOTS }, (_, slot) => [
    '-device',
    `pcie-root-port,id=nic${slot},chassis=${slot + 1},slot=${slot + 1}`,
  ]).flat(),
]

/** QEMU's option syntax: a comma in a value is doubled. */
function escapeValue(value: string): string {
  return value.replaceAll(',', ',,')
}
