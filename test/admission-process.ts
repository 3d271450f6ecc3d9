/**
 * Serves webhooks in a process of its own, for attacks that measure its event loop and its memory:
 * `tsx admission-process.ts FOLDER PATH`, with the certificate in the folder. Sends its port.
 */
import path from 'node:path'
import { serveAdmission } from '../src/kube/admission-server.ts'

const [folder = '', target = ''] = process.argv.slice(2)
process.on('disconnect', () => process.exit())
const { port } = await serveAdmission(
  {
    host: '127.0.0.1',
    port: 0,
    handlers: { [target]: () => ({ allowed: true }) },
    credentials: { certificateFile: path.join(folder, 'tls.crt'), privateKeyFile: path.join(folder, 'tls.key') },
  },
  new AbortController().signal,
)
process.send?.(port)
