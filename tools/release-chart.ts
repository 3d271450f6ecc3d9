/**
 * Generates the Helm chart of the operator from the objects of `operator install`.
 *
 * Pure. The objects are rendered once for each combination of the values that change more than a text, with marks in
 * place of texts; objects that are the same in all combinations are written once.
 */
import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../src/api/object.ts'
import { CONSOLE_MEMORY, CONSOLE_SERVICE, MEMORY, renderManifests } from '../src/operator/manifests.ts'
import { collectCrds, parts } from '../src/operator/parts.ts'
import { writeYaml } from '../src/yaml/write.ts'

/** File names of the chart with their texts. */
export type ChartFiles = ReadonlyMap<string, string>

export interface ChartRelease {
  readonly version: string
  /** The default of the value `image`. */
  readonly image?: string
}

/** In place of texts that a value decides; no object has them otherwise. */
const marks = {
  namespace: 'mark-namespace',
  image: 'mark-image',
  replicas: 987_654_321,
  served: 'mark-served',
  segments: 'mark-segments',
  machines: 'mark-machines',
  volumes: 'mark-volumes',
  accounts: 'mark-accounts',
} as const

interface Variant {
  readonly dataPlane: boolean
  readonly limited: boolean
}

/** The order of the branches of an `if`: the most special first. */
const variants: readonly Variant[] = [
  { dataPlane: true, limited: true },
  { dataPlane: true, limited: false },
  { dataPlane: false, limited: true },
  { dataPlane: false, limited: false },
]

/** A part that conflicts with a kind of upstream is not for every cluster, so a value turns it on. */
const commonParts = parts.filter(({ conflict }) => !conflict)
const commonCrds = collectCrds(commonParts)
const dataPlaneCrds = collectCrds(parts.filter(({ conflict }) => conflict))

export function renderChart({ version, image = '' }: ChartRelease): ChartFiles {
  return new Map([
    ['Chart.yaml', chartFile(version)],
    ['values.yaml', valuesFile(image)],
    ['values.schema.json', `${JSON.stringify(valuesSchema, null, 2)}\n`],
    ['README.md', readme],
    ['.helmignore', '*.tgz\n'],
    ['templates/NOTES.txt', notes],
    ['templates/operator.yaml', renderTemplates()],
    // Upgraded with the chart; deleting one would delete every object of its kind.
    ['templates/crds.yaml', commonCrds.own.map(crdTemplate).join('')],
    ['templates/data-plane-crds.yaml', `{{- if .Values.dataPlane }}\n${dataPlaneTemplates()}{{- end }}\n`],
    // Helm creates these only where the cluster does not have them, and never changes them.
    ...commonCrds.upstream.map((crd): [string, string] => [`crds/${crd.metadata.name}.yaml`, writeYaml(crd)]),
  ])
}

function renderVariant({ dataPlane, limited }: Variant): readonly KubeObject[] {
  return renderManifests(dataPlane ? parts : commonParts, {
    namespace: marks.namespace,
    image: marks.image,
    replicas: marks.replicas,
    segmentOwners: [marks.segments],
    machineNamespaces: [marks.machines],
    runVolumes: [marks.volumes],
    runServiceAccounts: [marks.accounts],
    runPrivileged: true,
    console: true,
    ...(limited && { namespaces: [marks.served] }),
  })
}

function renderTemplates(): string {
  const rendered = variants.map(renderVariant)
  const keys = [...new Set(rendered.flatMap((objects) => objects.map(identify)))]
  const find = (objects: readonly KubeObject[], key: string): KubeObject | undefined =>
    objects.find((object) => identify(object) === key)
  return keys
    .map((key) => {
      const found = rendered.map((objects) => find(objects, key))
      const [first] = found
      if (first && found.every((object) => isDeepStrictEqual(object, first))) return objectTemplate(first)
      return chooseTemplate(found)
    })
    .join('')
}

function identify({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace ?? ''} ${metadata.name}`
}

const conditions = ['and .Values.dataPlane .Values.namespaces', '.Values.dataPlane', '.Values.namespaces']

function chooseTemplate(found: readonly (KubeObject | undefined)[]): string {
  const branches = found.map((object, index) => {
    const condition = conditions[index]
    const word = index === 0 ? `if ${condition}` : condition === undefined ? 'else' : `else if ${condition}`
    return `{{- ${word} }}\n${object ? objectTemplate(object) : ''}`
  })
  return `${branches.join('')}{{- end }}\n`
}

function objectTemplate(object: KubeObject): string {
  const text = `---\n${fillTemplate(writeYaml(object))}`
  if (object.metadata.name === CONSOLE_SERVICE) return `{{- if .Values.console }}\n${text}{{- end }}\n`
  // Inside a range the dot is the namespace, so the values are reached from the root.
  if (object.metadata.namespace === marks.served) return inRange('.Values.namespaces', marks.served, text)
  if (object.metadata.namespace !== marks.machines) return text
  const others = `{{- if not (has . $.Values.namespaces) }}\n${text}{{- end }}\n`
  return inRange('.Values.machineNamespaces', marks.machines, others)
}

function inRange(list: string, mark: string, text: string): string {
  return `{{- range ${list} }}\n${text.replaceAll(mark, '{{ . | quote }}')}{{- end }}\n`
}

/** Options of `operator run` with a value that may be absent: the option and its mark are two lines of `args`. */
const optionalArgs: readonly (readonly [option: string, mark: string, value: string])[] = [
  ['--namespaces', marks.served, 'namespaces'],
  ['--segment-owners', marks.segments, 'segmentOwners'],
  ['--machine-namespaces', marks.machines, 'machineNamespaces'],
  ['--run-volumes', marks.volumes, 'runVolumes'],
  ['--run-service-accounts', marks.accounts, 'runServiceAccounts'],
]

function fillTemplate(yaml: string): string {
  let text = escapeBraces(yaml)
  for (const [option, mark, value] of optionalArgs) {
    const lines = new RegExp(`^( *)- ["']?${option}["']?\\n *- ${mark}\\n`, 'gm')
    text = text.replace(
      lines,
      (_, indent: string) =>
        `{{- with $.Values.${value} }}\n${indent}- ${option}\n${indent}- {{ join "," . | quote }}\n{{- end }}\n`,
    )
  }
  return text
    .replace(
      /^( *)- ["']?--run-privileged["']?\n/gm,
      '{{- if $.Values.runPrivileged }}\n$1- --run-privileged\n{{- end }}\n',
    )
    .replace(/^( *)- ["']?--console["']?\n/gm, '{{- if $.Values.console }}\n$1- --console\n{{- end }}\n')
    .replace(`memory: ${CONSOLE_MEMORY}`, `memory: {{ ternary "${CONSOLE_MEMORY}" "${MEMORY}" $.Values.console }}`)
    .replace(
      new RegExp(`^( *)(values|- values): *\\n? *(?:- |\\[)${marks.served}\\]?\\n`, 'gm'),
      '$1$2: {{ toJson $.Values.namespaces }}\n',
    )
    .replaceAll(marks.namespace, '{{ $.Release.Namespace | quote }}')
    .replaceAll(marks.image, '{{ required "set image to the image of the operator" $.Values.image | quote }}')
    .replaceAll(String(marks.replicas), '{{ $.Values.replicas }}')
}

function escapeBraces(text: string): string {
  return text.replaceAll('{{', '{{ "{{" }}')
}

function crdTemplate(crd: KubeObject): string {
  const { metadata } = crd
  const annotations = { ...metadata.annotations, 'helm.sh/resource-policy': 'keep' }
  return `---\n${escapeBraces(writeYaml({ ...crd, metadata: { ...metadata, annotations } }))}`
}

/** Upstream's kinds are created where they are missing; `lookup` finds nothing without a cluster. */
function dataPlaneTemplates(): string {
  const ours = dataPlaneCrds.own.map(crdTemplate)
  const upstream = dataPlaneCrds.upstream.map((crd) => {
    const found = `lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" "${crd.metadata.name}"`
    return `{{- if not (${found}) }}\n${crdTemplate(crd)}{{- end }}\n`
  })
  return [...ours, ...upstream].join('')
}

function chartFile(version: string): string {
  return writeYaml({
    apiVersion: 'v2',
    name: 'stackloom-operator',
    description: 'Addresses, names and data plane services for OpenStack clouds on Kubernetes',
    type: 'application',
    version,
    appVersion: version,
    // matchConditions of webhooks.
    kubeVersion: '>=1.30.0-0',
    home: 'https://stackloom.dev',
  })
}

function valuesFile(image: string): string {
  return `# The image of the operator. \`operator install --image\` takes the same.
image: ${JSON.stringify(image)}
# Pods: one leads, all serve webhooks.
replicas: 2
# Serve only these namespaces, with rights in no other; all by default.
namespaces: []
# Serve roles and nodes of the Role/Node API. Not in a cluster with OpenStackDataPlaneNodeSets.
dataPlane: false
# Give addresses of a segment only to its namespaces, such as vlan-20=openstack; * is every other segment.
segmentOwners: []
# Let nodes of every namespace claim machines of these namespaces.
machineNamespaces: []
# Let Ansible runs mount these kinds of volumes too, such as hostPath.
runVolumes: []
# Let Ansible runs use these service accounts.
runServiceAccounts: []
# Let Ansible runs be root and use any security context.
runPrivileged: false
# Serve the console on loopback, for a proxy that you add to the pod; a Service stackloom-console leads to it.
console: false
`
}

const namespaceList = {
  type: 'array',
  uniqueItems: true,
  items: { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 },
}
const segmentList = {
  type: 'array',
  uniqueItems: true,
  items: { type: 'string', pattern: '^([*]|(.+/)?(untagged|vlan-[1-9][0-9]{0,3}))=[a-z0-9]([-a-z0-9]*[a-z0-9])?$' },
}
const nameList = { type: 'array', uniqueItems: true, items: { type: 'string', minLength: 1 } }

const valuesSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  additionalProperties: false,
  properties: {
    image: { type: 'string', description: 'image of the operator' },
    replicas: { type: 'integer', minimum: 1 },
    namespaces: { ...namespaceList, description: 'serve only these namespaces' },
    dataPlane: { type: 'boolean', description: 'serve the Role/Node API' },
    segmentOwners: { ...segmentList, description: 'give addresses of a segment only to its namespaces' },
    machineNamespaces: { ...namespaceList, description: 'let nodes of every namespace claim machines of these' },
    runVolumes: { ...nameList, description: 'further kinds of volumes for Ansible runs' },
    runServiceAccounts: { ...nameList, description: 'service accounts for Ansible runs' },
    runPrivileged: { type: 'boolean', description: 'let Ansible runs be root' },
    console: { type: 'boolean', description: 'serve the console for a proxy in the pod' },
    // Helm passes these to every subchart.
    global: { type: 'object' },
  },
}

const readme = `# stackloom-operator

The operator of Stackloom as a Helm chart. Generated from the objects of \`stackloom operator install\`; values.yaml describes
the values, and values.schema.json checks them.

    helm install stackloom-operator ./stackloom-operator -n stackloom-operator --create-namespace --set image=IMAGE

Install it once per cluster, and not where infra-operator runs: the operator refuses to start there. \`helm uninstall\` keeps
the CustomResourceDefinitions, because all objects of their kinds would be deleted with them.
`

const notes = `Wait until the operator runs:

  kubectl -n {{ .Release.Namespace }} rollout status deployment/stackloom-operator

It needs nothing beyond the restricted profile of pod security:

  kubectl label namespace {{ .Release.Namespace }} pod-security.kubernetes.io/enforce=restricted
`
