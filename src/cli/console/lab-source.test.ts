/** The console of a lab: what is shown follows the lab while it runs. */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { connectConsole } from '../../../test/console-client.ts'
import { useFolder } from '../../../test/folder.ts'
import { testIo } from '../../../test/io.ts'
import { generateSmallKey, labText, labWith } from '../../../test/lab.ts'
import { createFakeTools } from '../../../test/lab-fake-tools.ts'
import type { LabDocument } from '../../console/documents/lab.ts'
import { schemas } from '../../console/documents/schemas.ts'
import { routes } from '../../console/routes.ts'
import { renderLab } from '../../lab/render-lab.ts'
import { main } from '../main.ts'

const folder = useFolder()
const LIMIT = 120_000

/** VMs of a lab are asked for on macOS only. */
function pretendMacos(): void {
  const { platform } = process
  const set = (value: string): void => void Object.defineProperty(process, 'platform', { value })
  set('darwin')
  onTestFinished(() => set(platform))
}

it('shows the VMs, services, endpoints and certificates of a lab, and a VM that starts', {
  timeout: 300_000,
}, async () => {
  pretendMacos()
  const lab = labWith()
  const tree = path.join(folder, 'osl')
  const { env } = createFakeTools(folder, tree)
  writeFileSync(path.join(folder, 'lab.yaml'), labText())
  await renderLab(lab, tree, { now: Date.now(), makeSshKey: generateSmallKey })
  const stop = new AbortController()
  const io = testIo({ cwd: folder, env, stop: stop.signal })
  const running = main(['console', '--lab', 'lab.yaml'], io)
  await vi.waitUntil(() => io.out().includes('token='), { timeout: LIMIT })
  const client = await connectConsole(io.out().trim())
  try {
    const before = await client.get<LabDocument>(routes.lab)
    expect(schemas.lab.safeParse(before).error).toBeUndefined()
    expect(new Set(before.nodes.map(({ status }) => status))).toEqual(new Set(['absent']))
    expect(before.services.some(({ name, enabled }) => name === 'cinder' && enabled)).toBe(true)
    expect(before.endpoints.map(({ name }) => name)).toContain('Public API and Horizon')
    expect(before.certificates.length).toBeGreaterThan(0)
    const [first] = lab.nodes
    const machine = path.join(env['LIMA_HOME'] ?? '', first?.instance ?? '')
    mkdirSync(machine, { recursive: true })
    writeFileSync(path.join(machine, 'status'), 'Running')
    await client.waitFor((event) => event.kind === 'patch' && event.document === 'lab')
    expect(client.patched('lab', before).nodes[0]).toMatchObject({ name: first?.name, status: 'Running' })
  } finally {
    client.close()
    stop.abort()
    await running
  }
})
