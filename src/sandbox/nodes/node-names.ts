/** Checks the names of nodes and NICs, which become names of folders, namespaces and interfaces. Pure. */
import { type Finding, finding } from '../../errors/finding.ts'
import { badNodeName } from '../findings.ts'
import type { NodeRequest } from './node-layout.ts'

const MAX_NODES = 50
/** A label of the node has its name. */
const MAX_LENGTH = 63
/** Often a full host name: worker-0.example.com. */
const HOST_NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/
/** Interfaces that every node has. */
const USED_INTERFACES = ['lo', 'eth0', 'cni0']

export function checkNodeNames(nodes: readonly NodeRequest[]): readonly Finding[] {
  const isRepeated = (name: string, index: number, all: readonly string[]): boolean => all.indexOf(name) !== index
  const badNodes = nodes
    .map(({ name }) => name)
    .filter(
      (name, index, all) =>
        !HOST_NAME.test(name) || name.length > MAX_LENGTH || isRepeated(name, index, all) || index >= MAX_NODES,
    )
  const badNics = nodes.flatMap(({ nics }) =>
    Object.values(nics).filter(
      (name, index, all) =>
        !/^[\w.-]{1,15}$/.test(name) || USED_INTERFACES.includes(name) || isRepeated(name, index, all),
    ),
  )
  return [
    ...badNodes.map((name) => finding(badNodeName, { kind: 'node', name })),
    ...[...new Set(badNics)].map((name) => finding(badNodeName, { kind: 'NIC', name })),
  ]
}
