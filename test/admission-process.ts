/**
 * Serves webhooks in a process of its own, for attacks that measure its event loop and its memory:
 * `tsx admission-process.ts FOLDER PATH`, with the certificate in the folder. Sends its port.
 */
import { serveAdmission } from '../src/kube/admission-server.ts'
import { readCredentialFolder } from '../src/pki/watch-credentials.ts'

const [folder = '', target = ''] = process.argv.slice(2)
process.on('disconnect', () => process.exit())
const { port } = await serveAdmission(
  {
    host: '127.0.0.1',
    port: 0,
    handlers: { [target]: () => ({ allowed: true }) },
    credentials: { read: () => readCredentialFolder(folder) },
  },
  new AbortController().signal,
)
process.send?.(port)
