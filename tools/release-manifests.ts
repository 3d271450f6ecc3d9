/** Generates the operator's plain manifests and its OLM bundle from the objects of `operator install`. Pure. */
import type { KubeObject } from '../src/api/object.ts'
import { OPERATOR_NAMESPACE, operatorNamespace, renderManifests } from '../src/operator/manifests.ts'
import { collectCrds, parts } from '../src/operator/parts.ts'
import { writeYaml } from '../src/yaml/write.ts'

export interface ManifestRelease {
  readonly version: string
  readonly image: string
  /** Of the release, as an ISO date: OLM shows it. */
  readonly date: string
}

/** Parts that every cluster supports; `operator install` and the chart offer the others. */
const commonParts = parts.filter(({ conflict }) => !conflict)
const crds = collectCrds(commonParts)

/** Everything for `kubectl apply --server-side -f`, in its order. */
export function plainManifests({ image }: Pick<ManifestRelease, 'image'>): readonly KubeObject[] {
  const installation = { namespace: OPERATOR_NAMESPACE, image, replicas: 2 }
  return [
    operatorNamespace(OPERATOR_NAMESPACE),
    ...crds.own,
    ...crds.upstream,
    ...renderManifests(commonParts, installation),
  ]
}

interface CrdSpec {
  readonly group: string
  readonly names: { readonly kind: string; readonly plural: string }
  readonly versions: readonly { readonly name: string; readonly schema?: { readonly openAPIV3Schema?: Schema } }[]
}

interface Schema {
  readonly description?: string
}

/**
 * The bundle of OLM v1 and v0. OLM creates service accounts, roles and Deployments from the ClusterServiceVersion; it has no
 * conditions for webhooks, without which an object could not be deleted while the operator is down, so the bundle has none:
 * the controllers report mistakes in conditions instead of refusing them.
 */
export function bundleFiles(release: ManifestRelease): ReadonlyMap<string, string> {
  const objects = renderManifests(commonParts, { namespace: OPERATOR_NAMESPACE, image: release.image, replicas: 2 })
  const name = `stackloom-operator.v${release.version}`
  return new Map([
    ['metadata/annotations.yaml', writeYaml({ annotations: bundleAnnotations })],
    [
      'manifests/stackloom-operator.clusterserviceversion.yaml',
      writeYaml(clusterServiceVersion(name, release, objects)),
    ],
    ...[...crds.own, ...crds.upstream].map((crd): [string, string] => [
      `manifests/${crd.metadata.name}.crd.yaml`,
      writeYaml(crd),
    ]),
  ])
}

const bundleAnnotations = {
  'operators.operatorframework.io.bundle.mediatype.v1': 'registry+v1',
  'operators.operatorframework.io.bundle.manifests.v1': 'manifests/',
  'operators.operatorframework.io.bundle.metadata.v1': 'metadata/',
  'operators.operatorframework.io.bundle.package.v1': 'stackloom-operator',
  'operators.operatorframework.io.bundle.channels.v1': 'candidate',
  'operators.operatorframework.io.bundle.channel.default.v1': 'candidate',
}

function clusterServiceVersion(
  name: string,
  { version, image, date }: ManifestRelease,
  objects: readonly KubeObject[],
): KubeObject {
  const deployment = objects.find(({ kind }) => kind === 'Deployment')
  const rules = (kind: string): unknown[] =>
    objects.filter((object) => object.kind === kind).flatMap((object) => object['rules'] as unknown[])
  const account = deployment?.metadata.name ?? ''
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: {
      name,
      namespace: 'placeholder',
      annotations: {
        capabilities: 'Basic Install',
        categories: 'Networking',
        containerImage: image,
        createdAt: date,
        description: 'Addresses and names for the data plane hosts of OpenStack clouds',
        'alm-examples': JSON.stringify([...crds.own, ...crds.upstream].map(exampleObject)),
      },
    },
    spec: {
      displayName: 'Stackloom',
      description:
        'Serves NetConfig, IPSet, Reservation, DNSMasq and DNSData with the same names, fields and messages as ' +
        'infra-operator, and never assigns an address twice. Do not install it beside infra-operator.',
      version,
      maturity: 'alpha',
      minKubeVersion: '1.30.0',
      keywords: ['openstack', 'rhoso', 'network', 'dns'],
      provider: { name: 'Stackloom' },
      maintainers: [{ name: 'Stackloom', email: 'maintainers@stackloom.dev' }],
      links: [{ name: 'Stackloom', url: 'https://stackloom.dev' }],
      icon: [{ base64data: Buffer.from(ICON).toString('base64'), mediatype: 'image/svg+xml' }],
      installModes: [
        { type: 'OwnNamespace', supported: false },
        { type: 'SingleNamespace', supported: false },
        { type: 'MultiNamespace', supported: false },
        { type: 'AllNamespaces', supported: true },
      ],
      customresourcedefinitions: { owned: [...crds.own, ...crds.upstream].map(ownedKind) },
      install: {
        strategy: 'deployment',
        spec: {
          permissions: [{ serviceAccountName: account, rules: rules('Role') }],
          clusterPermissions: [{ serviceAccountName: account, rules: rules('ClusterRole') }],
          deployments: deployment ? [{ name: account, spec: withoutWebhooks(deployment) }] : [],
        },
      },
    },
  }
}

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><path d="M8 16h48M8 32h48M8 48h48M16 8v48M32 8v48M48 8v48" stroke="#1f5f99" stroke-width="5"/></svg>'

interface DeploymentSpec {
  readonly template: {
    readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] }
  }
}

/** The namespace is the one that OLM installs into, which the pod finds in its credentials. */
function withoutWebhooks(deployment: KubeObject): unknown {
  const spec = deployment['spec'] as DeploymentSpec
  const { template } = spec
  const containers = template.spec.containers.map((container) => ({ ...container, args: ['operator', 'run'] }))
  return { ...spec, template: { ...template, spec: { ...template.spec, containers } } }
}

function ownedKind(crd: KubeObject): unknown {
  const { group, names, versions } = crd['spec'] as CrdSpec
  const [version] = versions
  return {
    name: `${names.plural}.${group}`,
    kind: names.kind,
    version: version?.name ?? '',
    displayName: names.kind,
    description: version?.schema?.openAPIV3Schema?.description ?? `${names.kind} of ${group}`,
  }
}

function exampleObject(crd: KubeObject): unknown {
  const { group, names, versions } = crd['spec'] as CrdSpec
  return { apiVersion: `${group}/${versions[0]?.name}`, kind: names.kind, metadata: { name: 'example' }, spec: {} }
}
