/**
 * Summarizes the data plane of a snapshot: every node with its phases and services, and what each waits for.
 *
 * Pure. It reads the status that the controllers have written and evaluates nothing again.
 */

import type { Condition, GroupVersionKind } from '../api/object.ts'
import { formatGroupKind, indexSnapshot, type Snapshot } from '../api/snapshot.ts'
import { type DataPlaneNode, dataPlaneNodes } from './kinds/data-plane.ts'
import type { ServiceObject } from './kinds/service-object.ts'
import { nodeServices } from './service-definitions/all.ts'
import type { ServiceDefinition } from './service-definitions/definition.ts'

/** `none`: not requested. */
export type PhaseState = 'none' | 'ready' | 'waiting' | 'failed'

export interface ServiceState {
  readonly kind: string
  readonly state: PhaseState
  readonly message?: string
}

export interface NodeState {
  readonly namespace: string
  readonly node: string
  readonly role: string
  /** Phase -1. */
  readonly machine: PhaseState
  /** Phase 0: the number of steps that are done. */
  readonly done: number
  readonly steps: number
  /** Phases -1 and 0. */
  readonly state: Exclude<PhaseState, 'none'>
  /** Phase 1. */
  readonly services: readonly ServiceState[]
  /** The message of the first condition that is not True. */
  readonly waits?: string
}

type Services = readonly Pick<ServiceDefinition, 'annotation'>[]

export function summarizedKinds(services: Services = nodeServices): readonly GroupVersionKind[] {
  return [dataPlaneNodes, ...services.map(({ annotation }) => annotation.kind)]
}

const STEP = / service ready$/

export function summarizeNodes(snapshot: Snapshot, services: Services = nodeServices): readonly NodeState[] {
  const kinds = services.map(({ annotation }) => annotation.kind)
  const index = indexSnapshot(snapshot)
  const servicesOf = new Map(
    kinds.map((kind) => [
      kind.kind,
      new Map(
        (index.all(formatGroupKind(kind)) as readonly ServiceObject[]).map((serviceObject) => [
          `${serviceObject.metadata.namespace}/${serviceObject.spec.dataplaneNodeName ?? serviceObject.metadata.name}`,
          serviceObject,
        ]),
      ),
    ]),
  )
  return (index.all(formatGroupKind(dataPlaneNodes)) as readonly DataPlaneNode[])
    .map((node) =>
      nodeState(node, kinds, (kind) => servicesOf.get(kind)?.get(`${node.metadata.namespace}/${node.metadata.name}`)),
    )
    .toSorted((a, b) => (`${a.namespace}/${a.node}` < `${b.namespace}/${b.node}` ? -1 : 1))
}

function nodeState(
  { metadata, spec, status }: DataPlaneNode,
  kinds: readonly GroupVersionKind[],
  serviceOf: (kind: string) => ServiceObject | undefined,
): NodeState {
  const conditions = status?.conditions ?? []
  const find = (type: string): Condition | undefined => conditions.find((condition) => condition.type === type)
  const steps = conditions.filter(({ type }) => STEP.test(type))
  const [ready, phaseOne, machine] = [find('Ready'), find('ServicesReady'), find('BaremetalProvisionReady')]
  const services = kinds.map(({ kind }) => serviceState(kind, serviceOf(kind)))
  const open = [ready, phaseOne].find((condition) => condition?.status !== 'True')
  return {
    namespace: metadata.namespace ?? '',
    node: metadata.name,
    role: spec.role ?? '',
    machine: machine ? conditionState(machine) : 'none',
    done: steps.filter((step) => step.status === 'True').length,
    steps: steps.length,
    state: conditionState(ready),
    services,
    ...((open ?? !ready) && { waits: open?.message ?? 'it is not reconciled yet' }),
  }
}

function serviceState(kind: string, service: ServiceObject | undefined): ServiceState {
  if (!service) return { kind, state: 'none' }
  const ready = service.status?.conditions?.find(({ type }) => type === 'Ready')
  const state = conditionState(ready)
  return {
    kind,
    state,
    ...(state !== 'ready' && { message: ready?.message ?? 'it is not reconciled yet' }),
  }
}

function conditionState(condition: Condition | undefined): Exclude<PhaseState, 'none'> {
  if (condition?.status === 'True') return 'ready'
  return condition?.severity === 'Error' ? 'failed' : 'waiting'
}
