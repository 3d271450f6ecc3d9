/** A process that keeps its enclosure: it ends by itself while a program runs on inside. */
import { openEnclosure } from '../../../src/rehearse/enclosure.ts'
import { recordKept } from '../../../src/rehearse/kept.ts'
import { resolveSandboxPaths } from '../../../src/sandbox/sandbox-context.ts'

const enclosure = await openEnclosure()
enclosure.start({ file: 'sleep', args: ['600'] })
await recordKept(resolveSandboxPaths(process.env), { site: 'lab', nodes: ['worker-0'], pid: enclosure.pid })
await enclosure.keep()
