/** The work that `client.bench.ts` measures: our client as a whole program, compared with kubectl. */
import { readFileSync } from 'node:fs'
import type { KubeObject } from '../src/api/object.ts'
import { connect } from '../src/kube/connect.ts'
import { takeSnapshot } from '../src/kube/snapshot.ts'

const [kubeconfig = '', verb, file = ''] = process.argv.slice(2)
const { client, close } = await connect({ kubeconfig, env: process.env })
const input = JSON.parse(readFileSync(file, 'utf8')) as { readonly items: readonly KubeObject[] }
if (verb === 'apply') {
  await Promise.all(input.items.map((object) => client.apply(object, { fieldManager: 'bench' })))
} else {
  const { snapshot, findings } = await takeSnapshot(client, input.items)
  if (findings.length > 0) throw new Error(JSON.stringify(findings))
  process.stdout.write(JSON.stringify(snapshot.objects))
}
await close()
