/**
 * Validates and defaults OpenStackDataPlaneRole and OpenStackDataPlaneNode.
 *
 * It judges the effective cell of each node, whichever object changes: an annotation of either, `spec.role`, or a role
 * that is created or deleted.
 */
import { isLabelValue } from '../../api/label-value.ts'
import { judgeViolations, type Violation } from '../../api/violation.ts'
import type { Finding } from '../../errors/finding.ts'
import type { AdmissionHandler, AdmissionRequest, AdmissionResponse, JsonPatchOperation } from '../../kube/admission.ts'
import { allowed, buildAnswer } from '../../webhooks/admission-answer.ts'
import { type DataPlaneNode, type DataPlaneRole, ROLE_LABEL } from '../kinds/data-plane.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { checkNode, checkRole, type FieldFinding } from '../rules/role-and-node.ts'
import type { ServiceAnnotation } from '../rules/service-annotation.ts'
import { decidePlacement } from '../rules/service-placement.ts'
import type { Environment } from '../service-definitions/images.ts'

/** The objects of one namespace that concern each other. */
export interface DataPlaneObjects {
  readonly role: (name: string) => DataPlaneRole | undefined
  readonly node: (name: string) => DataPlaneNode | undefined
  readonly nodesInRole: (role: string) => readonly DataPlaneNode[]
  readonly service: (annotation: ServiceAnnotation, name: string) => ServiceObject | undefined
}

/** What the webhooks know of the cluster. */
export interface DataPlaneLookup {
  /** From the caches: fast, and may be stale. Undefined until all of them are read: an operator that starts knows nothing. */
  readonly cached: (namespace: string) => DataPlaneObjects | undefined
  /** From the API server: read before a request is refused. */
  readonly live: (namespace: string, signal: AbortSignal) => Promise<DataPlaneObjects>
  readonly env: Environment
}

/** A role may have thousands of nodes; a few refusals are enough to see the cause. */
const MAX_REPORTED_NODES = 5

export function validateNode(lookup: DataPlaneLookup, annotations: readonly ServiceAnnotation[]): AdmissionHandler {
  return async (request, { signal }) => {
    const node = request.object as DataPlaneNode
    // An invalid node must still be deletable.
    if (node.metadata.deletionTimestamp) return allowed
    const old = (request.oldObject ?? undefined) as DataPlaneNode | undefined
    const refusalsOf = (version: DataPlaneNode) => (objects: DataPlaneObjects) =>
      placementRefusals(objects, version, annotations)
    const refused = await confirmRefusals(lookup, request, signal, refusalsOf(node), old && refusalsOf(old))
    const verdict = splitBySeverity(checkNode(node, annotations), old && checkNode(old, annotations))
    return answer(request, verdict, refused)
  }
}

export function validateRole(lookup: DataPlaneLookup, annotations: readonly ServiceAnnotation[]): AdmissionHandler {
  return async (request, { signal }) => {
    const role = (request.object ?? undefined) as DataPlaneRole | undefined
    const old = (request.oldObject ?? undefined) as DataPlaneRole | undefined
    const { name = '' } = request
    if (role?.metadata.deletionTimestamp) return allowed
    const refusalsOf = (version: DataPlaneRole | undefined) => (objects: DataPlaneObjects) => {
      const findRole: DataPlaneObjects['role'] = (roleName) => (roleName === name ? version : objects.role(roleName))
      const changed = { ...objects, role: findRole }
      return objects.nodesInRole(name).flatMap((node) => placementRefusals(changed, node, annotations))
    }
    // A created role is judged by itself: nodes that were without a role before do not excuse it.
    const before = request.operation === 'CREATE' ? undefined : refusalsOf(old)
    const refused = await confirmRefusals(lookup, request, signal, refusalsOf(role), before)
    const verdict = role
      ? splitBySeverity(checkRole(role, annotations), old && checkRole(old, annotations))
      : { refusals: [], warnings: [] }
    return answer(request, verdict, refused.slice(0, MAX_REPORTED_NODES))
  }
}

type Refusals = (objects: DataPlaneObjects) => readonly Finding[]

/** The refusals that the change itself causes: by the caches first, confirmed by the API server. */
async function confirmRefusals(
  lookup: DataPlaneLookup,
  { namespace = '' }: AdmissionRequest,
  signal: AbortSignal,
  after: Refusals,
  before: Refusals | undefined,
): Promise<readonly Finding[]> {
  const added = (objects: DataPlaneObjects): readonly Finding[] => {
    const known = new Set((before?.(objects) ?? []).map(({ message }) => message))
    return after(objects).filter(({ message }) => !known.has(message))
  }
  const cached = lookup.cached(namespace)
  return cached && added(cached).length === 0 ? [] : added(await lookup.live(namespace, signal))
}

/** Services of a node that contradict the changed node. */
function placementRefusals(
  objects: DataPlaneObjects,
  node: DataPlaneNode,
  annotations: readonly ServiceAnnotation[],
): readonly Finding[] {
  const role = node.spec.role ? objects.role(node.spec.role) : undefined
  return annotations.flatMap((annotation): readonly Finding[] => {
    const placement = decidePlacement(annotation, node, role, objects.service(annotation, node.metadata.name))
    return placement.kind === 'refused' ? [placement.finding] : []
  })
}

interface Verdict {
  readonly refusals: readonly Violation[]
  readonly warnings: readonly Violation[]
}

/** New errors refuse the change; errors that are already stored only warn, so that the object can be edited. */
function splitBySeverity(found: readonly FieldFinding[], old: readonly FieldFinding[] = []): Verdict {
  const errors = (findings: readonly FieldFinding[]): readonly Violation[] =>
    findings.filter(({ finding }) => finding.severity === 'error').map(toViolation)
  const verdict = judgeViolations(errors(found), errors(old))
  const warnings = found.filter(({ finding }) => finding.severity !== 'error').map(toViolation)
  return { refusals: verdict.refusals, warnings: [...verdict.warnings, ...warnings] }
}

function toViolation({ field, value, finding }: FieldFinding): Violation {
  return { field, value, detail: findingDetail(finding), rule: 'own' }
}

export function findingDetail({ code, message, remedy }: Finding): string {
  return `${message} (${code}: ${remedy})`
}

function answer(
  request: AdmissionRequest,
  { refusals, warnings }: Verdict,
  refused: readonly Finding[],
): AdmissionResponse {
  const field = 'metadata.annotations'
  const contradictions = refused.map((finding) => toViolation({ field, value: undefined, finding }))
  return buildAnswer(request, { refusals: [...refusals, ...contradictions], warnings })
}

/** Label and finalizer are set at creation: one write less, and the node is never without them. */
export function defaultNode(finalizer: string): AdmissionHandler {
  return (request) => {
    const node = request.object as DataPlaneNode
    const { finalizers = [], labels } = node.metadata
    const { role = '' } = node.spec
    const patch: JsonPatchOperation[] = []
    if (!finalizers.includes(finalizer)) {
      patch.push({ op: 'add', path: '/metadata/finalizers', value: [...finalizers, finalizer] })
    }
    if (isLabelValue(role) && labels?.[ROLE_LABEL] !== role) {
      patch.push({ op: 'add', path: '/metadata/labels', value: { ...labels, [ROLE_LABEL]: role } })
    }
    return { allowed: true, ...(patch.length > 0 && { patch }) }
  }
}
