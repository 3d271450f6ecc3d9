import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { getField } from '../../../src/api/raw-object.ts'
import type { KubeClient, ObjectRef } from '../../../src/kube/client.ts'
import { releaseKinds } from '../../../src/plan/release/releases.ts'
import { readReleaseFolder } from '../../../src/sandbox/crds/release-folders.ts'
import { useCluster } from '../../cluster.ts'
import { useFolder } from '../../folder.ts'
import { describeWithRelease } from '../../releases.ts'
import { RELEASES } from '../../sandbox-context.ts'
import { prepareCluster, type RunningActors, runCommands, startActors } from './deployment-fixture.ts'

const site = (clouds: readonly string[], hosts = ''): string => `
apiVersion: stackloom.dev/v1alpha1
kind: Site
metadata: {name: releases}
spec:
  cluster:
    dns: [192.168.122.1]
    nodes: [{name: worker-0, nic: enp6s0}]
  clouds:
${clouds.map((name) => `  - {name: ${name}, namespace: ${name}, services: {watcher: {enabled: true}}${hosts}}`).join('\n')}
`

const known: readonly string[] = releaseKinds
const kindOf = (crd: KubeObject): string => (crd['spec'] as { names: { kind: string } }).names.kind

describeWithRelease('18.0-fr4', 'a deployment', () => {
  describe('with the CRDs of its release', { timeout: 600_000 }, () => {
    describe('with the CRDs of 18.0-fr4, then 18.0-fr6, then main', () => {
      const cluster = useCluster({ crds: '18.0-fr4', metallb: true, controllerManager: true })
      const folder = useFolder()
      const stackloom = runCommands(folder, cluster)
      let actors: RunningActors | undefined

      beforeAll(async () => {
        await writeFile(path.join(folder, 'site.yaml'), site(['rhoso1', 'rhoso2']))
        await prepareCluster(cluster.client, ['worker-0'])
        actors = startActors(cluster.connection)
      }, 600_000)
      afterAll(() => actors?.stop())

      /** What an update of the operators does to the API server. */
      const updateCrds = async (release: string): Promise<void> => {
        const crds = await readReleaseFolder(release, { releases: RELEASES })
        for (const crd of crds.filter((definition) => known.includes(kindOf(definition))))
          await cluster.client.apply(crd, { fieldManager: 'administrator', force: true })
      }
      const controlPlane = (namespace: string) =>
        cluster.client.get({
          apiVersion: 'core.openstack.org/v1beta1',
          kind: 'OpenStackControlPlane',
          namespace,
          name: 'controlplane',
        })
      const glanceApi = async (namespace: string): Promise<unknown> =>
        getField(await controlPlane(namespace), 'spec', 'glance', 'template', 'glanceAPIs', 'default')
      const serviceAddresses = async (): Promise<Readonly<Record<string, unknown>>> => {
        const { items } = await cluster.client.list({ apiVersion: 'v1', kind: 'Service' })
        return Object.fromEntries(
          items.map((service) => [
            `${service.metadata.namespace}/${service.metadata.name}`,
            [service.metadata.uid, service.metadata.annotations?.['metallb.io/loadBalancerIPs']],
          ]),
        )
      }
      const lockedRelease = (): string =>
        /release: "?([^"\s]+)/.exec(readFileSync(path.join(folder, 'site.lock.yaml'), 'utf8'))?.[1] ?? ''
      let before: Readonly<Record<string, unknown>> = {}

      it('has the fields of the cluster and records its release', async () => {
        expect(await stackloom('up', '--yes')).toMatchObject({ code: 0 })
        expect(lockedRelease()).toBe('18.0-fr4')
        expect(await glanceApi('rhoso1')).toHaveProperty('containerImage')
        before = await serviceAddresses()
        expect(Object.keys(before)).toEqual(expect.arrayContaining(['rhoso1/watcher-internal', 'rhoso2/rabbitmq']))
        const kind = { apiVersion: 'rabbitmq.com/v1beta1', kind: 'RabbitmqCluster' }
        expect((await cluster.client.list(kind)).items).toHaveLength(4)
      })

      it('reports every field that an update of the CRDs concerns, and applies nothing before the plan follows', async () => {
        await updateCrds('18.0-fr6')
        const refused = await stackloom('up', '--yes')
        expect(refused.code).toBe(1)
        expect(refused.err).toContain('SL4029')
        expect(refused.err).toContain('spec.glance.template.glanceAPIs.default.containerImage')
        expect(await stackloom('diff')).toMatchObject({ code: 1, err: expect.stringContaining('SL4029') })
        expect(await serviceAddresses()).toEqual(before)
      })

      it('follows the CRDs of the cluster, and no address moves', async () => {
        const planned = await stackloom('plan', '--crd', 'live')
        expect(planned.code).toBe(0)
        expect(lockedRelease()).toBe('18.0-fr6')
        expect(await stackloom('up', '--yes')).toMatchObject({ code: 0 })
        expect(await glanceApi('rhoso1')).not.toHaveProperty('containerImage')
        expect(await glanceApi('rhoso2')).not.toHaveProperty('containerImage')
        expect(await serviceAddresses()).toEqual(before)
        expect(await stackloom('diff')).toMatchObject({ code: 0 })
      })

      it('goes on with a release that differs in no field that it has', async () => {
        await updateCrds('main')
        expect(await stackloom('plan', '--crd', 'live')).toMatchObject({ code: 0 })
        expect(lockedRelease()).toBe('main')
        expect(await stackloom('up', '--yes')).toMatchObject({ code: 0 })
        expect(await serviceAddresses()).toEqual(before)
      })
    })

    describe('with the CRDs of main from the start', () => {
      const cluster = useCluster({ crds: 'main', metallb: true, controllerManager: true })
      const folder = useFolder()
      let actors: RunningActors | undefined

      beforeAll(async () => {
        await writeFile(path.join(folder, 'site.yaml'), site(['rhoso1']))
        await prepareCluster(cluster.client, ['worker-0'])
        actors = startActors(cluster.connection)
      }, 600_000)
      afterAll(() => actors?.stop())

      it('gets its message queues as RabbitMqs, without RabbitmqClusters', async () => {
        expect(await runCommands(folder, cluster)('up', '--yes')).toMatchObject({ code: 0 })
        const list = async (apiVersion: string, kind: string) =>
          (await cluster.client.list({ apiVersion, kind })).items.map(({ metadata }) => metadata.name).sort()
        expect(await list('rabbitmq.openstack.org/v1beta1', 'RabbitMq')).toEqual(['rabbitmq', 'rabbitmq-cell1'])
        expect(await list('rabbitmq.com/v1beta1', 'RabbitmqCluster')).toEqual([])
      })

      const DEPLOYMENT = { apiVersion: 'dataplane.openstack.org/v1beta1', kind: 'OpenStackDataPlaneDeployment' }
      const deployments = async () => (await cluster.client.list(DEPLOYMENT)).items
      /** Deploys hosts, and lets the deployment run again as far as its conditions say. */
      const deployHosts = async (stackloom: ReturnType<typeof runCommands>): Promise<ObjectRef> => {
        await writeFile(path.join(folder, 'site.yaml'), site(['rhoso1'], ', hosts: [{name: compute-0}]'))
        expect(await stackloom('up', '--yes')).toMatchObject({ code: 0 })
        const [live] = await deployments()
        if (!live) throw new Error('there is no deployment')
        const { name, namespace = '' } = live.metadata
        const now = new Date().toISOString()
        const requested = { type: 'DeploymentReady', status: 'False', reason: 'Requested', lastTransitionTime: now }
        const { conditions = [] } = live['status'] as { conditions?: readonly { readonly type: string }[] }
        const others = conditions.filter(({ type }) => type !== requested.type)
        const status = { conditions: [...others, requested] }
        const ref = { ...DEPLOYMENT, name, namespace }
        await cluster.client.patch(ref, { status }, { type: 'merge', subresource: 'status' })
        return ref
      }

      it('reports the Ansible runs of each deployment in its node set', async () => {
        await writeFile(path.join(folder, 'site.yaml'), site(['rhoso1'], ', hosts: [{name: compute-0}]'))
        expect(await runCommands(folder, cluster)('up', '--yes')).toMatchObject({ code: 0 })
        const [deployment] = await deployments()
        const [nodeSet] = (await cluster.client.list({ ...DEPLOYMENT, kind: 'OpenStackDataPlaneNodeSet' })).items
        const summaries = getField(nodeSet, 'status', 'deploymentExecutionSummaries', deployment?.metadata.name ?? '')
        const run = `bootstrap-${deployment?.metadata.name}-${nodeSet?.metadata.name}`
        expect(summaries).toMatchObject({ [run]: { totalHosts: 1, failedHosts: 0 } })
      })

      it('deletes a running data plane deployment only with consent, in up --prune and in down', async () => {
        const stackloom = runCommands(folder, cluster)
        await refuseDeletionOfRunningDeployments(cluster.client)
        const ref = await deployHosts(stackloom)
        await expect
          .poll(() => cluster.client.delete(ref, { dryRun: true }).catch(String), { timeout: 60_000, interval: 200 })
          .toContain('deletion of a running deployment not allowed')
        await writeFile(path.join(folder, 'site.yaml'), site(['rhoso1']))
        const refused = await stackloom('up', '--prune')
        expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('SL4048') })
        expect(await deployments()).toHaveLength(1)
        expect(await stackloom('up', '--prune', '--yes')).toMatchObject({ code: 0 })
        expect(await deployments()).toHaveLength(0)
        await deployHosts(stackloom)
        expect(await stackloom('down', '--cloud', 'rhoso1', '--yes')).toMatchObject({ code: 0 })
        expect(await deployments()).toHaveLength(0)
      })
    })
  })
})

/** The rule of openstack-operator's webhook since July 2026, as a policy of the API server. */
async function refuseDeletionOfRunningDeployments(client: KubeClient): Promise<void> {
  const api = { apiVersion: 'admissionregistration.k8s.io/v1' }
  const name = 'running-deployments'
  const expression =
    "!(has(oldObject.status) && has(oldObject.status.conditions) && oldObject.status.conditions.exists(c, c.type == 'DeploymentReady'" +
    " && c.reason == 'Requested')) || (has(oldObject.metadata.annotations) && 'dataplane.openstack.org/confirm-delete' in " +
    "oldObject.metadata.annotations && oldObject.metadata.annotations['dataplane.openstack.org/confirm-delete'] == 'true')"
  await client.create({
    ...api,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: ['dataplane.openstack.org'],
            apiVersions: ['v1beta1'],
            operations: ['DELETE'],
            resources: ['openstackdataplanedeployments'],
          },
        ],
      },
      validations: [{ expression, message: 'deletion of a running deployment not allowed' }],
    },
  })
  await client.create({
    ...api,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  })
}
