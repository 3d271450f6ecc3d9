/** Defines the cases of `verify --probe` for a sandbox with the networks of two clouds: isolated, and with a cable between them. */
import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { probe } from '../../../src/cli/verify/probe-command.ts'
import type { ProbeOutcome } from '../../../src/deploy/network-probe.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import { PROBE_LABEL } from '../../../src/render/probe-pods.ts'
import { testIo } from '../../io.ts'
import type { PodSandbox } from '../../pod-sandbox.ts'

/** Two networks of each cloud are enough: the rest is more of the same. No Service has a VIP here. */
function narrow(plan: Plan): Plan {
  const kept = new Set(['ctlplane', 'internalapi'])
  return {
    ...plan,
    clouds: plan.clouds.map((cloud) => ({
      ...cloud,
      networks: cloud.networks.filter(({ name }) => kept.has(name)).map((network) => ({ ...network, vips: [] })),
      uses: [],
    })),
  }
}

export function defineProbe(
  sandbox: PodSandbox,
  site: Plan,
  soon: { readonly timeout: number; readonly interval: number },
): void {
  const plan = narrow(site)
  const listProbes = async (namespace: string): Promise<readonly KubeObject[]> =>
    (await sandbox.client.list({ apiVersion: 'v1', kind: 'Pod' }, { namespace, labelSelector: PROBE_LABEL })).items

  describe('`verify --probe` with real pods', { timeout: 600_000 }, () => {
    const run = (): Promise<ProbeOutcome> =>
      probe(plan, { probeImage: 'busybox:1.37', kubeconfig: sandbox.kubeconfig }, testIo())
    const problems = ({ results, findings }: ProbeOutcome): readonly string[] =>
      [...findings, ...results.flatMap((result) => result.findings)]
        .filter(({ severity }) => severity === 'error')
        .map(({ code, message }) => `${code} ${message}`)

    it('proves two isolated clouds, and leaves no pod', async () => {
      const outcome = await run()
      expect(problems(outcome)).toEqual([])
      expect(outcome.results.filter(({ verdict }) => verdict !== 'passed')).toEqual([])
      expect(outcome.results.length).toBeGreaterThan(0)
      for (const { namespace } of plan.clouds) await expect.poll(() => listProbes(namespace), soon).toEqual([])
    })

    it('reports a cable between networks of the two clouds, both ways and from both nodes', async () => {
      const [first, second] = plan.clouds.map(
        ({ networks }) => networks.find(({ name }) => name === 'internalapi')?.vlan,
      )
      const bridge = (vlan = 0): string => `seg0v${vlan}`
      const onSwitch = (...words: readonly string[]): Promise<string> => sandbox.run('switch', ['ip', 'link', ...words])
      await onSwitch('add', 'cable0', 'type', 'veth', 'peer', 'name', 'cable1')
      await onSwitch('set', 'cable0', 'master', bridge(first), 'up')
      await onSwitch('set', 'cable1', 'master', bridge(second), 'up')
      const found = problems(await run())
      await onSwitch('del', 'cable0')
      const crossings = found.filter((problem) => problem.startsWith('SL9101'))
      for (const node of ['worker-0', 'worker-1']) {
        for (const [from, to] of [
          ['rhoso1', 'rhoso2'],
          ['rhoso2', 'rhoso1'],
        ]) {
          const text = `pod of ${from}/internalapi on ${node}`
          expect(
            crossings.filter((crossing) => crossing.includes(text) && crossing.includes(`${to}/internalapi`)),
          ).not.toEqual([])
        }
      }
      expect(crossings.filter((crossing) => crossing.includes('ctlplane'))).toEqual([])
    })
  })
}
