import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { useFolder } from '../../../test/folder.ts'
import { testIo } from '../../../test/io.ts'
import { main } from '../main.ts'

const site = (name: string, subnet: string): string => `
apiVersion: stackloom.dev/v1alpha1
kind: Site
metadata: {name: ${name}}
spec:
  cluster:
    nodes: [{name: worker-0, nic: enp6s0}]
  clouds:
  - name: rhoso1
    namespace: openstack
    networks:
      ctlplane: {subnets: [{cidr: ${subnet}.0/24, gateway: ${subnet}.1, spans: {nodes: ${subnet}.10-${subnet}.20, vips: ${subnet}.80-${subnet}.90, hosts: ${subnet}.100-${subnet}.200}}]}
`

const kubeconfig = (name: string): string => `
apiVersion: v1
kind: Config
current-context: ${name}
contexts: [{name: ${name}, context: {cluster: ${name}, user: ${name}}}]
clusters: [{name: ${name}, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: ${name}, user: {}}]
`

const fleet = (routers: string): string => `
apiVersion: stackloom.dev/v1alpha1
kind: Fleet
metadata: {name: europe}
spec:
  sites:
  - {name: berlin, file: berlin.yaml, kubeconfig: berlin.conf, routers: [r1]}
  - {name: paris, file: paris.yaml, kubeconfig: paris.conf, routers: [${routers}]}
`

describe('--fleet', () => {
  const folder = useFolder()
  beforeAll(async () => {
    const files = {
      'berlin.yaml': site('berlin', '192.168.122'),
      'paris.yaml': site('paris', '192.168.122'),
      'berlin.conf': kubeconfig('berlin'),
      'paris.conf': kubeconfig('paris'),
      'fleet.yaml': fleet('r2'),
      'shared.yaml': fleet('r1'),
      'lost.yaml': fleet('r2').replace('file: paris.yaml', 'file: lost/site.yaml'),
    }
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text)
    for (const name of ['berlin', 'paris']) expect((await run('plan', '-f', `${name}.yaml`)).code).toBe(0)
  })
  const run = async (...words: readonly string[]) => {
    const io = testIo({ cwd: folder, columns: 200 })
    const code = await main(words, io)
    return { code, out: io.out(), err: io.err() }
  }

  it('plans every site and prints a row for each', async () => {
    const { code, out } = await run('plan', '--check', '--fleet', 'fleet.yaml')
    expect(out).toMatch(/^SITE +VERDICT +CLOUDS +ERRORS +WARNINGS +FIRST PROBLEM\nberlin +fine +1 +0 /)
    expect(code).toBe(0)
  })

  it('reports equal subnets of sites that share a router', async () => {
    const { code, out, err } = await run('plan', '--check', '--fleet', 'shared.yaml', '-o', 'json')
    expect(code).toBe(1)
    const { findings } = JSON.parse(out) as {
      readonly findings: readonly { readonly code: string; readonly message: string }[]
    }
    expect(findings.find((found) => found.code === 'SL4162')?.message).toContain(
      'berlin rhoso1/ctlplane 192.168.122.0/24',
    )
    expect(err).toContain('SL4162')
    const table = await run('plan', '--check', '--fleet', 'shared.yaml')
    for (const site of ['berlin', 'paris'])
      expect(table.out).toMatch(new RegExp(`\\n?${site} +failed +1 +[1-9].* SL4162: berlin rhoso1/ctlplane`))
  })

  it('names a site without files, and shows the others', async () => {
    const { code, out } = await run('plan', '--check', '--fleet', 'lost.yaml')
    expect(out).toMatch(/\nparis +invalid .*SL1002: cannot read lost\/site.yaml/)
    expect(out).toMatch(/\nberlin +fine/)
    expect(code).toBe(2)
  })

  it.each([['status'], ['verify'], ['doctor'], ['hosts'], ['certificates']])(
    'of %s names sites that cannot be reached and exits 3',
    async (command) => {
      const { code, out } = await run(command, '--fleet', 'fleet.yaml', '-o', 'json')
      const { sites } = JSON.parse(out) as { readonly sites: readonly object[] }
      expect(sites).toMatchObject([
        { site: 'berlin', verdict: 'unreachable' },
        { site: 'paris', verdict: 'unreachable' },
      ])
      expect(code).toBe(3)
    },
  )

  it('shows why a site cannot be reached', async () => {
    expect((await run('status', '--fleet', 'fleet.yaml')).out).toMatch(/\nparis +unreachable +.*SL1100/)
  })

  it('updates nothing when the canary cannot be reached', async () => {
    const { code, err } = await run('update', '--fleet', 'fleet.yaml', '--yes')
    expect(err).toContain('SL4168: nothing was updated, because the canary berlin cannot be reached')
    expect(code).toBe(3)
  })

  it.each([
    [['status', '--fleet', 'fleet.yaml', '--context', 'x'], '--fleet excludes --context'],
    [['verify', '--fleet', 'fleet.yaml', '-f', 'x'], '--fleet excludes --file'],
    [['status', '--fleet', 'fleet.yaml', '--data-plane'], '--fleet excludes --data-plane'],
    [['plan', '--fleet', 'fleet.yaml'], '--fleet needs --check'],
    [['hosts', 'deploy', '--failed', '--fleet', 'fleet.yaml'], 'deploy has no --fleet'],
  ])('refuses %j', async (words, reason) => {
    const { code, err } = await run(...words)
    expect(err).toContain(`SL1001: ${reason}`)
    expect(code).toBe(2)
  })
})
