/** A process that is killed by its test: opens an enclosure, fills it, and says when each part is there. */
import { openEnclosure } from '../../../src/rehearse/enclosure.ts'

const enclosure = await openEnclosure()
console.log('opened')
enclosure.start({ file: 'sleep', args: ['600'] })
await enclosure.exec({ file: 'ip', args: ['tuntap', 'add', 'dev', 'n0p0', 'mode', 'tap'] })
await enclosure.exec({ file: 'mkdir', args: [enclosure.inside('files')] })
await enclosure.exec({ file: 'mount', args: ['-t', 'tmpfs', 'tmpfs', enclosure.inside('files')] })
console.log('filled')
// Programs start all the time, as in a rehearsal.
for (;;) await enclosure.exec({ file: 'true' })
