import { readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { main } from '../../../src/cli/main.ts'
import { parseCertificate } from '../../../src/pki/certificate.ts'
import type { PlannedCloud } from '../../../src/plan/plan.ts'
import { useCluster } from '../../cluster.ts'
import { useFolder } from '../../folder.ts'
import { testIo } from '../../io.ts'
import { adoptPlan } from './adopt-plan.ts'
import { prepareCluster, type RunningActors, startActors } from './deployment-fixture.ts'
import { installCloud, installedObjects } from './install-yamls.ts'

const plan = adoptPlan(1)
const cloud = plan.clouds[0] as PlannedCloud
const PASSWORD = 'a-secret-of-this-test'

describe('stackloom access', { timeout: 600_000 }, () => {
  const cluster = useCluster({ crds: '0.6.0', metallb: true })
  let cast: RunningActors | undefined
  const folder = useFolder()

  beforeAll(async () => {
    await prepareCluster(cluster.client, [])
    cast = startActors(cluster.connection, ['openstack'])
    const objects = installedObjects(plan, cloud, { pool: (network) => network })
    await installCloud(
      cluster.client,
      objects.map((object) =>
        object.kind === 'Secret' ? { ...object, stringData: { AdminPassword: PASSWORD } } : object,
      ),
    )
    const config = {
      apiVersion: 'v1',
      kind: 'Secret',
      namespace: cloud.namespace,
      name: 'combined-ca-bundle',
    }
    await vi.waitUntil(() => cluster.client.get(config), { timeout: 120_000, interval: 100 })
    await writeFile(path.join(folder, 'site.yaml'), siteFile)
  }, 600_000)
  afterAll(() => cast?.stop())

  const access = async (...more: readonly string[]) => {
    const kubeconfig = path.join(folder, 'kubeconfig')
    await writeFile(kubeconfig, await readFile(cluster.kubeconfig, 'utf8'))
    const said = testIo({ cwd: folder })
    const code = await main(['access', '--cloud', cloud.name, '--kubeconfig', kubeconfig, ...more], said)
    return { code, kubeconfig, ...said }
  }

  it('writes a clouds.yaml with the password and a CA that only the owner can read', async () => {
    const { code } = await access()
    expect(code).toBe(0)
    const [clouds, ca] = ['clouds.yaml', `${cloud.name}-ca.pem`].map((name) => path.join(folder, name)) as [
      string,
      string,
    ]
    expect(((await stat(clouds)).mode & 0o777).toString(8)).toBe('600')
    expect(((await stat(ca)).mode & 0o777).toString(8)).toBe('600')
    expect(parse(await readFile(clouds, 'utf8')).clouds[cloud.name]).toMatchObject({
      auth: { username: 'admin', project_name: 'admin', password: PASSWORD },
      region_name: 'regionOne',
      cacert: ca,
    })
    expect(parseCertificate(await readFile(ca, 'utf8')).commonName).toContain(cloud.namespace)
  })

  it('prints how to access the cloud, and no password in any format', async () => {
    for (const format of ['table', 'json', 'yaml']) {
      const { out, err } = await access('-o', format)
      expect(out()).toContain(`--os-cloud ${cloud.name}`)
      expect(out() + err()).not.toContain(PASSWORD)
    }
  })

  it('keeps the other clouds of a clouds.yaml', async () => {
    await writeFile(path.join(folder, 'clouds.yaml'), '# mine\nclouds:\n  other:\n    region_name: elsewhere\n')
    await access()
    const text = await readFile(path.join(folder, 'clouds.yaml'), 'utf8')
    expect(text).toContain('# mine')
    expect(Object.keys(parse(text).clouds)).toEqual(['other', cloud.name])
  })

  it('adds a context with the namespace, and keeps the current one', async () => {
    const before = parse(await readFile(cluster.kubeconfig, 'utf8'))
    const { kubeconfig } = await access('--add-context')
    const after = parse(await readFile(kubeconfig, 'utf8'))
    expect(after['current-context']).toBe(before['current-context'])
    const added = after.contexts.find((context: { name: string }) => context.name === cloud.name)
    expect(added.context).toMatchObject({ namespace: cloud.namespace })
    expect(after.contexts).toHaveLength(before.contexts.length + 1)
  })

  it('reports what is missing for a cloud that is not deployed', async () => {
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      namespace: cloud.namespace,
      name: 'openstack-config-secret',
    }
    await cluster.client.delete(secret)
    const { code, err } = await access()
    expect(code).toBe(1)
    expect(err()).toContain('openstack-config-secret')
  })
})

const siteFile = `apiVersion: stackloom.dev/v1alpha1
kind: Site
metadata:
  name: lab
spec:
  cluster:
    platform: openshift
    nodes:
    - name: worker-0
      nic: enp6s0
  clouds:
  - name: ${cloud.name}
    namespace: ${cloud.namespace}
`
