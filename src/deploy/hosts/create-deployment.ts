/** Creates an object of a run and waits until it is ready; one that an interrupted run has created is only waited for. */
import type { KubeObject } from '../../api/object.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { StageContext } from '../../run/stage.ts'
import { objectReadiness } from '../../verify/readiness/readiness.ts'
import { defaultGrace, type Readiness } from '../../verify/readiness/verdict.ts'
import { type LiveView, waitUntilReady } from '../live-view.ts'
import { FIELD_MANAGER, objectRef } from '../object-changes.ts'
import { retry } from '../retry.ts'

export async function createAndWait(
  { client, view }: { readonly client: KubeClient; readonly view: LiveView },
  object: KubeObject,
  context: StageContext,
  wait = true,
  /** Called before the object is created. */
  record: () => Promise<void> = async () => undefined,
): Promise<void> {
  const ref = objectRef(object)
  const { namespace = '' } = object.metadata
  if (!(await client.get(ref))) {
    await record()
    await retry(() => client.apply(object, { fieldManager: FIELD_MANAGER }), context)
    context.emit({ kind: 'applied', change: 'created', object: ref })
  }
  if (!wait) return
  const judge = (): Readiness =>
    objectReadiness(ref, { around: view.index(namespace), now: context.clock.now(), grace: defaultGrace, nodes: [] })
  await waitUntilReady(judge, view, context, namespace)
}
