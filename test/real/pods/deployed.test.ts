/** Deploys two clouds where nodes and pods are real, and asks the commands of daily operation about them. */
import { copyFileSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { main } from '../../../src/cli/main.ts'
import { useFolder } from '../../folder.ts'
import { testIo } from '../../io.ts'
import { usePodSandbox } from '../../pod-sandbox.ts'

vi.setConfig({ testTimeout: 900_000 })

const sandbox = usePodSandbox({
  crds: 'today',
  nodes: ['worker-0', 'worker-1', 'worker-2'],
  actors: ['nmstate', 'olm', 'openstack'],
  soakOnly: true,
})
const folder = useFolder()

interface Said {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function stackloom(...words: readonly string[]): Promise<Said> {
  const io = testIo({ cwd: folder })
  const code = await main([...words, '--kubeconfig', sandbox.kubeconfig], io)
  return { code, out: io.out(), err: io.err() }
}

describe('two clouds on real nodes', () => {
  it('are deployed, and a second run finds no difference', async () => {
    copyFileSync('examples/two-clouds.yaml', path.join(folder, 'site.yaml'))
    expect(await stackloom('up', '--yes')).toMatchObject({ code: 0 })
    expect(await stackloom('diff')).toMatchObject({ code: 0 })
  })

  it('are ready for `status`', async () => {
    const { code, out } = await stackloom('status')
    expect({ code, out }).toMatchObject({ code: 0 })
    for (const cloud of ['rhoso1', 'rhoso2']) expect(out).toMatch(new RegExp(`✓ ${cloud} .*ready`))
  })

  it('have no problem for `doctor`', async () => {
    const { code, out, err } = await stackloom('doctor', '-f', 'site.yaml')
    expect({ code, out, err }).toMatchObject({ code: 0 })
  })

  it('are each reached with what `access` writes', async () => {
    const vip: string[] = []
    for (const cloud of ['rhoso1', 'rhoso2']) {
      const { code, err } = await stackloom('access', '--cloud', cloud)
      expect({ code, err }).toMatchObject({ code: 0 })
      const { clouds } = parse(readFileSync(path.join(folder, 'clouds.yaml'), 'utf8')) as {
        readonly clouds: Readonly<Record<string, { readonly auth: { readonly auth_url: string } }>>
      }
      vip.push(clouds[cloud]?.auth.auth_url ?? '')
    }
    expect(new Set(vip).size).toBe(2)
  })

  it('leave no interface on the nodes when they are taken down', async () => {
    expect(await sandbox.run('worker-0', ['ip', '-br', 'link'])).toContain('enp6s0.20')
    expect(await stackloom('down', '--all', '--yes')).toMatchObject({ code: 0 })
    for (const { name } of sandbox.layout.nodes)
      expect(await sandbox.run(name, ['ip', '-br', 'link'])).not.toMatch(/enp6s0\./)
  })
})
