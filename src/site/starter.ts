/** Renders the starter file: a complete site in few lines, with comments on what else is possible. Pure. */
import { writeYaml } from '../yaml/write.ts'

export interface StarterAnswers {
  readonly name: string
  readonly platform: 'openshift' | 'kubernetes'
  readonly nodes: readonly { readonly name: string; readonly nic: string }[]
  readonly clouds: readonly { readonly name: string; readonly namespace: string }[]
  readonly families: readonly (4 | 6)[]
  readonly isolation: 'vlan-per-cloud' | 'shared-vlan'
  readonly dns: readonly string[]
  readonly storageClass: string | undefined
}

/** `schema` is the file with the JSON Schema, relative to the site file. */
export function renderStarterSite(answers: StarterAnswers, schema?: string): string {
  const { name, platform, nodes, clouds, families, isolation, dns, storageClass } = answers
  const list = (items: readonly object[]): string => items.map((item) => `- ${flow(item)}\n`).join('')
  const schemaLine = schema === undefined ? '' : `# yaml-language-server: $schema=./${schema}\n`
  return `${schemaLine}# A site: one cluster and the OpenStack clouds on it.
#   stackloom plan      shows every address that this file leads to, and what is wrong
#   stackloom render    prints every object
#   stackloom schema    prints all fields that a site file can have
apiVersion: stackloom.dev/v1alpha1
kind: Site
metadata:
  name: ${scalar(name)}
spec:
  cluster:
    platform: ${platform}${platform === 'openshift' ? '' : '\n    # Plain Kubernetes has no Routes: public endpoints are VIPs, see `public` below.'}
    # The nodes that run the clouds, and the NIC of each that carries their networks. More NICs by role:
    # - {name: worker-0, nics: {main: enp6s0, storage: enp7s0}}
    nodes:
${indent(list(nodes), 4)}    # What the cluster uses itself; these are the platform's defaults. Add your machine network.
    # reserved:
    #   machine: [192.168.111.0/24]
${reservedComment(platform)}    # DNS servers that the clouds ask.
    ${dns.length > 0 ? `dns: [${dns.map(scalar).join(', ')}]` : '# dns: [192.168.122.1]'}
    ${storageClass === undefined ? '# storageClass: local-storage' : `storageClass: ${scalar(storageClass)}`}
    # layer2, or bgp with an AS number and peers:
    # metallb: {mode: bgp, asn: 64999, peers: [{address: 192.0.2.1, asn: 64998}]}
    metallb: {mode: layer2}
  addressing:
    # Every cloud its own VLANs; shared-vlan puts the same network of all clouds into one L2 domain.
    isolation: ${isolation}
    # [4], [6], or [4, 6] for dual stack.
    families: [${families.join(', ')}]
    # VLAN ids that your switches carry to the nodes:
    # vlans: {first: 20, last: 400}
  # What a network is in every cloud: VLAN, mtu, subnets. false: no cloud has it.
  # networks:
  #   tenant: {vlan: 30}
  #   designate: false
  #   designateext: false
  clouds:
${indent(clouds.map((cloud, index) => cloudText(cloud, platform, index === 0)).join(''), 2)}`
}

function cloudText(
  { name, namespace }: StarterAnswers['clouds'][number],
  platform: StarterAnswers['platform'],
  first: boolean,
): string {
  const open = platform === 'kubernetes' ? '  public: {by: vip, network: ctlplane}\n' : ''
  const more = `  # Whatever you write under networks is a pin; leave out what the planner may choose.
  # networks:
  #   internalapi:
  #     vlan: 20
  #     subnets:
  #     - cidr: 172.17.0.0/24
  #       gateway: 172.17.0.1
  # services: {cinder: true, swift: true}
  # hosts:
  # - {name: edpm-compute-0}
`
  return `- name: ${scalar(name)}\n  namespace: ${scalar(namespace)}\n${open}${first ? more : ''}`
}

function reservedComment(platform: StarterAnswers['platform']): string {
  const prefixes =
    platform === 'openshift'
      ? ['pods: [10.128.0.0/14]', 'services: [172.30.0.0/16]']
      : ['pods: [10.244.0.0/16]', 'services: [10.96.0.0/12]']
  return prefixes.map((prefix) => `    #   ${prefix}\n`).join('')
}

function flow(item: object): string {
  return `{${Object.entries(item)
    .map(([key, value]) => `${key}: ${scalar(String(value))}`)
    .join(', ')}}`
}

function scalar(text: string): string {
  // Inside a flow mapping a comma or a bracket would end the word.
  return /[,[\]{}]/.test(text) ? JSON.stringify(text) : writeYaml(text).trimEnd()
}

function indent(text: string, by: number): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(by))
}
