/**
 * The webhooks of roles and nodes: what is refused, what is warned of, and what a node is born with.
 *
 * The effective cell of a node is judged, whichever of the two objects is changed: an annotation of either, the role that
 * a node names, a role that goes or comes.
 */
import type { DataPlaneNode } from '../api/dataplane-node.ts'
import { ROLE_LABEL } from '../api/dataplane-node.ts'
import type { DataPlaneRole } from '../api/dataplane-role.ts'
import { type FieldFinding, nodeFindings, roleFindings } from '../api/dataplane-rules.ts'
import type { ServiceAnnotation } from '../api/service-annotation.ts'
import { placement } from '../api/service-placement.ts'
import type { Violation } from '../api/violation.ts'
import { judge } from '../api/violation.ts'
import type { Finding } from '../errors/finding.ts'
import type {
  AdmissionAnswer,
  AdmissionHandler,
  AdmissionRequest,
  JsonPatchOperation,
} from '../kube/admission.ts'
import { allowed, answerOf } from './answer.ts'
import type { DataPlaneParts, DataPlaneView } from './data-plane-view.ts'

/** More than a few lines of the same say nothing new. */
const MOST_NODES = 5

export function validateNode(
  view: DataPlaneView,
  annotations: readonly ServiceAnnotation[],
): AdmissionHandler {
  return async (request, { signal }) => {
    const node = request.object as DataPlaneNode
    // One that is going away must be let go, whatever is wrong with it.
    if (node.metadata.deletionTimestamp) return allowed
    const old = (request.oldObject ?? undefined) as DataPlaneNode | undefined
    const of = (one: DataPlaneNode) => (parts: DataPlaneParts) => refusedOn(parts, one, annotations)
    const refused = await surely(view, request, signal, of(node), old && of(old))
    const findings = sorted(nodeFindings(node, annotations), old && nodeFindings(old, annotations))
    return answer(request, findings, refused)
  }
}

export function validateRole(
  view: DataPlaneView,
  annotations: readonly ServiceAnnotation[],
): AdmissionHandler {
  return async (request, { signal }) => {
    const role = (request.object ?? undefined) as DataPlaneRole | undefined
    const old = (request.oldObject ?? undefined) as DataPlaneRole | undefined
    const { name = '' } = request
    if (role?.metadata.deletionTimestamp) return allowed
    const of = (one: DataPlaneRole | undefined) => (parts: DataPlaneParts) => {
      // The nodes as they would be with this role, or without any.
      const with1: DataPlaneParts = { ...parts, role: (asked) => (asked === name ? one : parts.role(asked)) }
      return parts.nodesOf(name).flatMap((node) => refusedOn(with1, node, annotations))
    }
    // A role that comes finds nodes that were without: their own state before does not excuse it.
    const before = request.operation === 'CREATE' ? undefined : of(old)
    const refused = await surely(view, request, signal, of(role), before)
    const findings = role
      ? sorted(roleFindings(role, annotations), old && roleFindings(old, annotations))
      : nothing
    return answer(request, findings, refused.slice(0, MOST_NODES))
  }
}

type Refusals = (parts: DataPlaneParts) => readonly Finding[]

/** What the change brings about that was not so before; by the caches first, by the API server before it is refused. */
async function surely(
  view: DataPlaneView,
  { namespace = '' }: AdmissionRequest,
  signal: AbortSignal,
  after: Refusals,
  before: Refusals | undefined,
): Promise<readonly Finding[]> {
  const brought = (parts: DataPlaneParts): readonly Finding[] => {
    const known = new Set((before?.(parts) ?? []).map(({ message }) => message))
    return after(parts).filter(({ message }) => !known.has(message))
  }
  return brought(view.known(namespace)).length === 0 ? [] : brought(await view.now(namespace, signal))
}

/** Services of a node that the node, as it would be, contradicts. */
function refusedOn(
  parts: DataPlaneParts,
  node: DataPlaneNode,
  annotations: readonly ServiceAnnotation[],
): readonly Finding[] {
  const role = node.spec.role ? parts.role(node.spec.role) : undefined
  return annotations.flatMap((annotation): readonly Finding[] => {
    const place = placement(annotation, node, role, parts.service(annotation, node.metadata.name))
    return place.kind === 'refused' ? [place.finding] : []
  })
}

interface Sorted {
  readonly refusals: readonly Violation[]
  readonly warnings: readonly Violation[]
}

const nothing: Sorted = { refusals: [], warnings: [] }

/** Errors refuse what is new; what was stored before us can still be edited. */
function sorted(found: readonly FieldFinding[], old: readonly FieldFinding[] = []): Sorted {
  const errors = (list: readonly FieldFinding[]): readonly Violation[] =>
    list.filter(({ finding }) => finding.severity === 'error').map(violationOf)
  const verdict = judge(errors(found), errors(old))
  const warnings = found.filter(({ finding }) => finding.severity !== 'error').map(violationOf)
  return { refusals: verdict.refusals, warnings: [...verdict.warnings, ...warnings] }
}

function violationOf({ field, value, finding }: FieldFinding): Violation {
  return { field, value, detail: said(finding), rule: 'own' }
}

export function said({ code, message, remedy }: Finding): string {
  return `${message} (${code}: ${remedy})`
}

function answer(
  request: AdmissionRequest,
  { refusals, warnings }: Sorted,
  refused: readonly Finding[],
): AdmissionAnswer {
  const bound = refused.map(
    (one): Violation => ({
      field: 'metadata.annotations',
      value: undefined,
      detail: said(one),
      rule: 'own',
    }),
  )
  return answerOf(request, { refusals: [...refusals, ...bound], warnings })
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
