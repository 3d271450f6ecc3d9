/**
 * Makes the service objects that annotations ask for, and keeps the fields that follow from the node.
 *
 * By server-side apply that never names customServiceConfig or an image: what a person writes there is theirs, also in an
 * object that was made by hand before. The images are filled in once, where they are missing.
 */

import { type KubeObject, objectKey } from '../../api/object.ts'
import { sameJson } from '../../api/same-json.ts'
import { requeueOnConflict } from '../../controllers/kit/writes.ts'
import { formatError } from '../../errors/failure.ts'
import { finding } from '../../errors/finding.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { Controller } from '../../kube/controller.ts'
import { fieldOwnedByOther } from '../findings/data-plane.ts'
import { type DataPlaneNode, dataPlaneNodes } from '../kinds/node.ts'
import { dataPlaneRoles } from '../kinds/role.ts'
import type { ServiceObject, ServiceSpec } from '../kinds/service-object.ts'
import { nodeInventoryName } from '../nodes/inventory.ts'
import { type EffectiveNode, effectiveAnnotation } from '../rules/inheritance.ts'
import { decidePlacement } from '../rules/service-placement.ts'
import type { ServiceDefinition } from '../service-definitions/definition.ts'
import { missingImages } from '../service-definitions/images.ts'
import { byRole, FIELD_MANAGER, FINALIZER, type World } from '../world.ts'

const WORKERS = 32
/** Whoever fills in images holds them for nobody: another hand takes them without a conflict. */
const IMAGE_MANAGER = `${FIELD_MANAGER}-images`

/**
 * An object that somebody deleted comes back after a while only: time to take the annotation away, which is refused
 * as long as the object is there.
 */
const RECREATE_DELAY_MS = 30_000

export function placementController(world: World, definition: ServiceDefinition): Controller {
  const deleted = trackDeletions(world, definition)
  return {
    name: `dataplane-${definition.name}-placement`,
    watches: [
      { kind: dataPlaneNodes },
      {
        kind: dataPlaneRoles,
        map: ({ metadata }) => world.nodes.byIndex(byRole, objectKey(metadata)).map((node) => objectKey(node.metadata)),
        isOwnWrite: world.echoes.has,
      },
      { kind: definition.annotation.kind },
    ],
    workers: WORKERS,
    reconcile: requeueOnConflict(async (request, { signal, clock }) => {
      const node = world.nodes.get(objectKey(request))
      if (!node || node.metadata.deletionTimestamp) {
        deleted.forget(objectKey(request))
        return undefined
      }
      const restMs = deleted.remainingMs(objectKey(request), clock.now())
      if (restMs > 0) return { requeueAfterMs: restMs }
      await placeService(world, definition, node, signal)
      return undefined
    }),
  }
}

interface Deletions {
  /** How long a deleted object stays away still. */
  readonly remainingMs: (key: string, now: number) => number
  /** Its node went too: a new one of the name has nothing to wait for. */
  readonly forget: (key: string) => void
}

/** What was deleted while nobody watched is not known, and comes back at once. */
function trackDeletions(world: World, definition: ServiceDefinition): Deletions {
  /** When each was first missed; undefined until somebody looks. */
  const missed = new Map<string, number | undefined>()
  world.objectsOf(definition).subscribe(({ kind, object }) => {
    const key = objectKey(object.metadata)
    if (kind === 'deleted') missed.set(key, undefined)
    else missed.delete(key)
  })
  return {
    forget: (key) => void missed.delete(key),
    remainingMs: (key, now) => {
      if (!missed.has(key)) return 0
      const since = missed.get(key) ?? now
      missed.set(key, since)
      const restMs = since + RECREATE_DELAY_MS - now
      if (restMs <= 0) missed.delete(key)
      return restMs
    },
  }
}

async function placeService(
  world: World,
  definition: ServiceDefinition,
  node: DataPlaneNode,
  signal: AbortSignal,
): Promise<void> {
  const { annotation } = definition
  const { namespace = '', name } = node.metadata
  const role = node.spec.role ? world.roles.get(objectKey({ namespace, name: node.spec.role })) : undefined
  // Without its role it is not known what holds for the node.
  if (node.spec.role && !role) return
  const object = world.objectsOf(definition).get(objectKey(node.metadata))
  // One that is going goes first; the next one is made after it.
  if (object?.metadata.deletionTimestamp) return
  const wanted = decidePlacement(annotation, node, role, object)
  if (wanted.kind !== 'kept') return
  const { effective, problems } = world.derived(node, role)
  if (problems.length > 0) return
  const held = effectiveAnnotation(node, role, annotation.holdKey) === 'false'
  const spec = desiredServiceSpec(effective, held, wanted.fields)
  const kept =
    object && isUpToDate(object, node, spec) ? object : await applyServiceObject(world, definition, node, spec, signal)
  const images = kept && missingImages(definition.images, kept.spec, world.env)
  if (!images || Object.keys(images).length === 0) return
  await world.client.patch(
    { ...annotation.kind, namespace, name },
    { spec: images },
    { type: 'merge', fieldManager: IMAGE_MANAGER, signal },
  )
}

/** The fields of a service object that follow from its node. */
export function desiredServiceSpec(
  { name, runner, deploy }: EffectiveNode,
  held: boolean,
  fields: Readonly<Record<string, string>>,
): ServiceSpec {
  const { sshSecret, networkAttachments } = runner
  return {
    dataplaneNodeName: name,
    inventoryConfigMapName: nodeInventoryName(name),
    sshKeySecretName: sshSecret,
    ...(networkAttachments.length > 0 && { networkAttachments }),
    deploy: deploy && !held,
    ...fields,
  }
}

/** Those of them that the object has otherwise. */
export function driftedFields({ spec }: ServiceObject, wanted: ServiceSpec): readonly string[] {
  const following = { ...wanted, networkAttachments: wanted.networkAttachments ?? [] }
  return Object.entries(following).flatMap(([field, value]) =>
    sameJson(spec[field] ?? (Array.isArray(value) ? [] : undefined), value) ? [] : [field],
  )
}

/** Nothing to write: every field that follows from the node says so already. */
function isUpToDate(object: ServiceObject, node: DataPlaneNode, wanted: ServiceSpec): boolean {
  const { ownerReferences, finalizers = [] } = object.metadata
  const owned = ownerReferences?.some(({ uid }) => uid === node.metadata.uid) ?? false
  return owned && finalizers.includes(FINALIZER) && driftedFields(object, wanted).length === 0
}

async function applyServiceObject(
  world: World,
  { annotation }: ServiceDefinition,
  node: DataPlaneNode,
  spec: ServiceSpec,
  signal: AbortSignal,
): Promise<ServiceObject | undefined> {
  const { namespace = '', name, uid = '' } = node.metadata
  const object: KubeObject = {
    ...annotation.kind,
    metadata: {
      name,
      namespace,
      finalizers: [FINALIZER],
      ownerReferences: [{ ...dataPlaneNodes, name, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec,
  }
  try {
    return (await world.client.apply(object, { fieldManager: FIELD_MANAGER, signal })) as ServiceObject
  } catch (error) {
    if (!isApiError(error, 'conflict')) throw error
    const facts = { kind: annotation.kind.kind, name, why: formatError(error) }
    const { code, message, remedy } = finding(fieldOwnedByOther, facts)
    world.record({
      regarding: node,
      type: 'Warning',
      reason: 'FieldHeldByOther',
      action: 'Place',
      note: `${code}: ${message}. ${remedy}`,
    })
    return undefined
  }
}
