/**
 * Renders the catalog that OLM reads in a sandbox: the packages of the operators, with their objects inline, so that no image is
 * unpacked. Pure.
 */
import type { KubeObject } from '../../api/object.ts'
import { defaultCatalogs, type Package, packages } from '../actors/olm/catalog-packages.ts'
import { workloadSpec } from '../actors/olm/operands.ts'

/** OpenShift's, which Subscriptions name. */
export const CATALOG_NAMESPACE = 'openshift-marketplace'
export const CATALOG_PORT = 50_051

/** A file-based catalog: one JSON document per line. */
export function renderCatalog(): string {
  return Object.entries(packages)
    .flatMap(([name, found]) => catalogDocuments(name, found))
    .map((document) => `${JSON.stringify(document)}\n`)
    .join('')
}

function catalogDocuments(name: string, found: Package): readonly unknown[] {
  const { csv, version, channels } = found
  return [
    { schema: 'olm.package', name, defaultChannel: channels[0] },
    ...channels.map((channel) => ({ schema: 'olm.channel', package: name, name: channel, entries: [{ name: csv }] })),
    {
      schema: 'olm.bundle',
      package: name,
      name: csv,
      properties: [
        { type: 'olm.package', value: { packageName: name, version } },
        { type: 'olm.bundle.object', value: { data: encode(renderVersion(name, found)) } },
      ],
    },
  ]
}

function encode(object: KubeObject): string {
  return Buffer.from(JSON.stringify(object)).toString('base64')
}

function renderVersion(name: string, { csv, version, workloads, installModes }: Package): KubeObject {
  const supported: readonly string[] = installModes
  const deployments = workloads
    .filter((workload) => workload.kind === 'Deployment' && !workload.namespace)
    .map((workload) => ({ name: workload.name, spec: workloadSpec(workload) }))
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: { name: csv },
    spec: {
      displayName: name,
      version,
      installModes: ['OwnNamespace', 'SingleNamespace', 'MultiNamespace', 'AllNamespaces'].map((type) => ({
        type,
        supported: supported.includes(type),
      })),
      install: { strategy: 'deployment', spec: { deployments } },
    },
  }
}

/** Objects that OpenShift has before anything is installed. */
export function catalogObjects(): readonly KubeObject[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: CATALOG_NAMESPACE } },
    ...defaultCatalogs.map((name) => ({
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'CatalogSource',
      metadata: { name, namespace: CATALOG_NAMESPACE },
      spec: { sourceType: 'grpc', address: `127.0.0.1:${CATALOG_PORT}`, displayName: name },
    })),
  ]
}
