/**
 * Creates the service objects that annotations request, and updates the fields that follow from the node.
 *
 * By server-side apply without customServiceConfig and images: these belong to people, also in an object that was
 * created manually before. Missing images are set once.
 */
import { type KubeObject, objectKey } from '../../api/object.ts'
import { controllerReference, isOwnedBy } from '../../api/ownership.ts'
import { sameJson } from '../../api/same-json.ts'
import { requeueOnConflict } from '../../controllers/kit/writes.ts'
import { formatError } from '../../errors/failure.ts'
import { finding } from '../../errors/finding.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { CacheReader } from '../../kube/cache.ts'
import type { Controller } from '../../kube/controller.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import type { Runtime } from '../../kube/runtime.ts'
import { byRole, type DataPlaneCaches } from '../caches.ts'
import { fieldOwnedByOther } from '../findings/data-plane.ts'
import { type DataPlaneNode, dataPlaneNodes, dataPlaneRoles } from '../kinds/data-plane.ts'
import type { ServiceObject, ServiceSpec } from '../kinds/service-object.ts'
import { nodeInventoryName } from '../nodes/inventory.ts'
import type { NodeViews } from '../nodes/node-view.ts'
import { type EffectiveNode, effectiveAnnotation } from '../rules/inheritance.ts'
import { decidePlacement } from '../rules/service-placement.ts'
import type { ServiceDefinition } from '../service-definitions/definition.ts'
import { type Environment, missingImages } from '../service-definitions/images.ts'
import { FIELD_MANAGER, FINALIZER } from '../writes.ts'

const WORKERS = 32
/** A manager of its own, so that another one can set the images without a conflict. */
const IMAGE_MANAGER = `${FIELD_MANAGER}-images`

/**
 * A deleted object is created again after this delay: time to remove the annotation, which is refused while the object
 * exists.
 */
const RECREATE_DELAY_MS = 30_000

export interface PlacementDeps {
  readonly client: Pick<Runtime['client'], 'apply' | 'patch'>
  readonly caches: Pick<DataPlaneCaches, 'nodes' | 'roles' | 'serviceObjects'>
  readonly views: Pick<NodeViews, 'settings'>
  readonly env: Environment
  readonly record: (event: EventRecord) => void
  readonly isOwnWrite: (object: KubeObject) => boolean
}

export function placementController(deps: PlacementDeps, definition: ServiceDefinition): Controller {
  const { nodes, serviceObjects } = deps.caches
  const deletions = trackDeletions(serviceObjects(definition))
  return {
    name: `dataplane-${definition.name}-placement`,
    watches: [
      { kind: dataPlaneNodes },
      {
        kind: dataPlaneRoles,
        map: (role) => nodes.byIndex(byRole, objectKey(role.metadata)).map(({ metadata }) => objectKey(metadata)),
        isOwnWrite: deps.isOwnWrite,
      },
      { kind: definition.annotation.kind },
    ],
    workers: WORKERS,
    reconcile: requeueOnConflict(async (request, { signal, clock }) => {
      const node = nodes.get(objectKey(request))
      if (!node || node.metadata.deletionTimestamp) {
        deletions.forget(objectKey(request))
        return undefined
      }
      const remainingMs = deletions.remainingMs(objectKey(request), clock.now())
      if (remainingMs > 0) return { requeueAfterMs: remainingMs }
      await placeService(deps, definition, node, signal)
      return undefined
    }),
  }
}

interface Deletions {
  /** How long a deleted object is not created again yet. */
  readonly remainingMs: (key: string, now: number) => number
  /** For a node that was deleted too: a new node of this name has nothing to wait for. */
  readonly forget: (key: string) => void
}

/** A deletion before the start of the operator is unknown: the object is created again at once. */
function trackDeletions(objects: CacheReader<ServiceObject>): Deletions {
  /** When the deletion was first noticed; undefined until the first reconcile. */
  const noticed = new Map<string, number | undefined>()
  objects.subscribe(({ kind, object }) => {
    const key = objectKey(object.metadata)
    if (kind === 'deleted') noticed.set(key, undefined)
    else noticed.delete(key)
  })
  return {
    forget: (key) => void noticed.delete(key),
    remainingMs: (key, now) => {
      if (!noticed.has(key)) return 0
      const since = noticed.get(key) ?? now
      noticed.set(key, since)
      const remainingMs = since + RECREATE_DELAY_MS - now
      if (remainingMs <= 0) noticed.delete(key)
      return remainingMs
    },
  }
}

async function placeService(
  deps: PlacementDeps,
  definition: ServiceDefinition,
  node: DataPlaneNode,
  signal: AbortSignal,
): Promise<void> {
  const { client, caches, views, env } = deps
  const { annotation } = definition
  const { namespace = '', name } = node.metadata
  const role = node.spec.role ? caches.roles.get(objectKey({ namespace, name: node.spec.role })) : undefined
  // Without its role the settings of the node are unknown.
  if (node.spec.role && !role) return
  const live = caches.serviceObjects(definition).get(objectKey(node.metadata))
  if (live?.metadata.deletionTimestamp) return
  const placement = decidePlacement(annotation, node, role, live)
  if (placement.kind !== 'kept') return
  const { effective, problems } = views.settings(node, role)
  if (problems.length > 0) return
  const isHeld = effectiveAnnotation(node, role, annotation.holdKey) === 'false'
  const spec = desiredServiceSpec(effective, isHeld, placement.fields)
  const object =
    live && isUpToDate(live, node, spec) ? live : await applyServiceObject(deps, definition, node, spec, signal)
  const images = object && missingImages(definition.images, object.spec, env)
  if (!images || Object.keys(images).length === 0) return
  const options = { type: 'merge', fieldManager: IMAGE_MANAGER, signal } as const
  await client.patch({ ...annotation.kind, namespace, name }, { spec: images }, options)
}

/** The fields of a service object that follow from its node. */
export function desiredServiceSpec(
  { name, runner, deploy }: EffectiveNode,
  isHeld: boolean,
  fields: Readonly<Record<string, string>>,
): ServiceSpec {
  const { sshSecret, networkAttachments } = runner
  return {
    dataplaneNodeName: name,
    inventoryConfigMapName: nodeInventoryName(name),
    sshKeySecretName: sshSecret,
    ...(networkAttachments.length > 0 && { networkAttachments }),
    deploy: deploy && !isHeld,
    ...fields,
  }
}

/** The fields whose value differs from the desired one. */
export function driftedFields({ spec }: ServiceObject, desired: ServiceSpec): readonly string[] {
  const fields = { ...desired, networkAttachments: desired.networkAttachments ?? [] }
  return Object.entries(fields).flatMap(([field, value]) =>
    sameJson(spec[field] ?? (Array.isArray(value) ? [] : undefined), value) ? [] : [field],
  )
}

function isUpToDate(object: ServiceObject, node: DataPlaneNode, desired: ServiceSpec): boolean {
  const { finalizers = [] } = object.metadata
  return isOwnedBy(object, node) && finalizers.includes(FINALIZER) && driftedFields(object, desired).length === 0
}

async function applyServiceObject(
  { client, record }: PlacementDeps,
  { annotation }: ServiceDefinition,
  node: DataPlaneNode,
  spec: ServiceSpec,
  signal: AbortSignal,
): Promise<ServiceObject | undefined> {
  const { namespace = '', name } = node.metadata
  const ownerReferences = [controllerReference({ ...node, ...dataPlaneNodes })]
  const object: KubeObject = {
    ...annotation.kind,
    metadata: { name, namespace, finalizers: [FINALIZER], ownerReferences },
    spec,
  }
  try {
    return (await client.apply(object, { fieldManager: FIELD_MANAGER, signal })) as ServiceObject
  } catch (error) {
    if (!isApiError(error, 'conflict')) throw error
    const facts = { kind: annotation.kind.kind, name, why: formatError(error) }
    const { code, message, remedy } = finding(fieldOwnedByOther, facts)
    const note = `${code}: ${message}. ${remedy}`
    record({ regarding: node, type: 'Warning', reason: 'FieldHeldByOther', action: 'Place', note })
    return undefined
  }
}
