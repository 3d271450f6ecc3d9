/** The files in the guide are files that plan. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { testIo } from '../../../test/io.ts'
import { main } from '../main.ts'

const guide = readFileSync(path.join(import.meta.dirname, '../../../docs/guide/plan.md'), 'utf8')
const blocks = [...guide.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => text)
const [site = '', supernets = '', accept = '', pins = ''] = blocks

async function findingsOf(text: string): Promise<readonly { readonly code: string }[]> {
  const io = testIo({ stdin: Readable.from([Buffer.from(text)]) })
  await main(['plan', '-f', '-', '-o', 'json'], io)
  return (JSON.parse(io.out()) as { readonly findings: readonly { readonly code: string }[] }).findings
}

describe('the guide', () => {
  it('starts with a file that plans without findings', async () => {
    expect(await findingsOf(site)).toEqual([])
  })

  it('shows supernets that plan without findings', async () => {
    expect(await findingsOf(site + supernets.replace('spec:\n', ''))).toEqual([])
  })

  it('shows pins that plan without findings', async () => {
    expect(await findingsOf(site.replace(/^ {2}clouds:.*/ms, pins))).toEqual([])
  })

  it('shows a valid accept list', async () => {
    const codes = (await findingsOf(site + accept.replace('spec:\n', ''))).map(({ code }) => code)
    expect(codes).toEqual(['SL2012'])
  })
})
