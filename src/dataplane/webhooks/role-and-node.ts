/**
 * The webhooks of roles and nodes: what is refused, what is warned of, and what a node is born with.
 *
 * The effective cell of a node is judged, whichever of the two objects is changed: an annotation of either, the role that
 * a node names, a role that goes or comes.
 */

import type { Violation } from '../../api/violation.ts'
import { judgeViolations } from '../../api/violation.ts'
import type { Finding } from '../../errors/finding.ts'
import type { AdmissionHandler, AdmissionRequest, AdmissionResponse, JsonPatchOperation } from '../../kube/admission.ts'
import { allowed, buildAnswer } from '../../webhooks/admission-answer.ts'
import type { DataPlaneNode } from '../kinds/node.ts'
import { ROLE_LABEL } from '../kinds/node.ts'
import type { DataPlaneRole } from '../kinds/role.ts'
import { checkNode, checkRole, type FieldFinding } from '../rules/role-and-node.ts'
import type { ServiceAnnotation } from '../rules/service-annotation.ts'
import { decidePlacement } from '../rules/service-placement.ts'
import type { DataPlaneLookup, DataPlaneObjects } from './lookup.ts'

/** More than a few lines of the same say nothing new. */
const MAX_REPORTED_NODES = 5

export function validateNode(view: DataPlaneLookup, annotations: readonly ServiceAnnotation[]): AdmissionHandler {
  return async (request, { signal }) => {
    const node = request.object as DataPlaneNode
    // One that is going away must be let go, whatever is wrong with it.
    if (node.metadata.deletionTimestamp) return allowed
    const old = (request.oldObject ?? undefined) as DataPlaneNode | undefined
    const of = (dataPlaneNode: DataPlaneNode) => (parts: DataPlaneObjects) =>
      placementRefusals(parts, dataPlaneNode, annotations)
    const refused = await confirmRefusals(view, request, signal, of(node), old && of(old))
    const findings = splitBySeverity(checkNode(node, annotations), old && checkNode(old, annotations))
    return answer(request, findings, refused)
  }
}

export function validateRole(view: DataPlaneLookup, annotations: readonly ServiceAnnotation[]): AdmissionHandler {
  return async (request, { signal }) => {
    const role = (request.object ?? undefined) as DataPlaneRole | undefined
    const old = (request.oldObject ?? undefined) as DataPlaneRole | undefined
    const { name = '' } = request
    if (role?.metadata.deletionTimestamp) return allowed
    const of = (one: DataPlaneRole | undefined) => (parts: DataPlaneObjects) => {
      // The nodes as they would be with this role, or without any.
      const with1: DataPlaneObjects = { ...parts, role: (asked) => (asked === name ? one : parts.role(asked)) }
      return parts.nodesInRole(name).flatMap((node) => placementRefusals(with1, node, annotations))
    }
    // A role that comes finds nodes that were without: their own state before does not excuse it.
    const before = request.operation === 'CREATE' ? undefined : of(old)
    const refused = await confirmRefusals(view, request, signal, of(role), before)
    const findings = role ? splitBySeverity(checkRole(role, annotations), old && checkRole(old, annotations)) : nothing
    return answer(request, findings, refused.slice(0, MAX_REPORTED_NODES))
  }
}

type Refusals = (parts: DataPlaneObjects) => readonly Finding[]

/** What the change brings about that was not so before; by the caches first, by the API server before it is refused. */
async function confirmRefusals(
  view: DataPlaneLookup,
  { namespace = '' }: AdmissionRequest,
  signal: AbortSignal,
  after: Refusals,
  before: Refusals | undefined,
): Promise<readonly Finding[]> {
  const brought = (parts: DataPlaneObjects): readonly Finding[] => {
    const known = new Set((before?.(parts) ?? []).map(({ message }) => message))
    return after(parts).filter(({ message }) => !known.has(message))
  }
  return brought(view.cached(namespace)).length === 0 ? [] : brought(await view.live(namespace, signal))
}

/** Services of a node that the node, as it would be, contradicts. */
function placementRefusals(
  parts: DataPlaneObjects,
  node: DataPlaneNode,
  annotations: readonly ServiceAnnotation[],
): readonly Finding[] {
  const role = node.spec.role ? parts.role(node.spec.role) : undefined
  return annotations.flatMap((annotation): readonly Finding[] => {
    const place = decidePlacement(annotation, node, role, parts.service(annotation, node.metadata.name))
    return place.kind === 'refused' ? [place.finding] : []
  })
}

interface Verdict {
  readonly refusals: readonly Violation[]
  readonly warnings: readonly Violation[]
}

const nothing: Verdict = { refusals: [], warnings: [] }

/** Errors refuse what is new; what was stored before us can still be edited. */
function splitBySeverity(found: readonly FieldFinding[], old: readonly FieldFinding[] = []): Verdict {
  const errors = (list: readonly FieldFinding[]): readonly Violation[] =>
    list.filter(({ finding }) => finding.severity === 'error').map(toViolation)
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
  const bound = refused.map(
    (finding): Violation => ({
      field: 'metadata.annotations',
      value: undefined,
      detail: findingDetail(finding),
      rule: 'own',
    }),
  )
  return buildAnswer(request, { refusals: [...refusals, ...bound], warnings })
}

/** The label and the finalizer go on with the create: one write less, and no moment without them. */
export function defaultNode(finalizer: string): AdmissionHandler {
  return (request) => {
    const node = request.object as DataPlaneNode
    const { finalizers = [], labels } = node.metadata
    const { role } = node.spec
    const patch: JsonPatchOperation[] = []
    if (!finalizers.includes(finalizer)) {
      patch.push({ op: 'add', path: '/metadata/finalizers', value: [...finalizers, finalizer] })
    }
    if (role && labels?.[ROLE_LABEL] !== role) {
      patch.push({ op: 'add', path: '/metadata/labels', value: { ...labels, [ROLE_LABEL]: role } })
    }
    return { allowed: true, ...(patch.length > 0 && { patch }) }
  }
}
