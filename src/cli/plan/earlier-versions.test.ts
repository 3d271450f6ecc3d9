/** Site files and locks that earlier versions wrote: the present version reads them, and nothing moves. */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { testIo } from '../../../test/io.ts'
import { main } from '../main.ts'

const samples = path.join(import.meta.dirname, '../../../test/samples/versions')
const sites = readdirSync(samples).flatMap((version) =>
  readdirSync(path.join(samples, version))
    .filter((name) => !name.endsWith('.lock.yaml'))
    .map((name) => `${version}/${name}`),
)

it.each(sites)('%s plans without errors, and no address of its lock moves', async (site) => {
  const io = testIo()
  const code = await main(['plan', '-f', path.join(samples, site), '--diff', '-o', 'json'], io)
  const { changes, findings } = JSON.parse(io.out()) as {
    readonly changes: readonly unknown[]
    readonly findings: readonly { readonly severity: string }[]
  }
  expect({ code, changes, errors: findings.filter(({ severity }) => severity === 'error') }).toEqual({
    code: 0,
    changes: [],
    errors: [],
  })
})
