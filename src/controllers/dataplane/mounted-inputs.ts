/**
 * What stands in the Secrets and ConfigMaps that a node's runs are given (`extraMounts`, `env`): part of the inputs, by its
 * content, so that a changed password reaches the hosts like a changed field.
 *
 * Pure. What is not there yet counts as such; the run itself waits for it.
 */
import type { RunnerSettings } from '../../api/dataplane-inheritance.ts'
import type { KubeObject } from '../../api/object.ts'
import { hashOf } from './hash.ts'
import { needsOf, type Source, sourceKey } from './runs/materials.ts'

type Given = Pick<RunnerSettings, 'extraMounts' | 'env'>

const NONE: readonly Source[] = []
/** Asked for every node at every look: read once per value. */
const known = new WeakMap<Given['extraMounts'], readonly Source[]>()
const contents = new WeakMap<KubeObject, string>()

export function mountedSources({ extraMounts, env }: Given): readonly Source[] {
  if (extraMounts.length === 0 && env.length === 0) return NONE
  const before = known.get(extraMounts)
  if (before) return before
  const needs = needsOf({ extraMounts: [...extraMounts], env: [...env] })
  const sources = needs.flatMap(({ oneOf }) => oneOf)
  known.set(extraMounts, sources)
  return sources
}

/** Undefined where nothing is mounted: then the inputs are what they would be without this. */
export function mountedHash(
  runner: Given,
  find: (source: Source) => KubeObject | undefined,
): string | undefined {
  const sources = mountedSources(runner)
  if (sources.length === 0) return undefined
  const found = sources.map((source) => {
    const object = find(source)
    return [sourceKey(source), object ? contentHash(object) : ''] as const
  })
  return hashOf(Object.fromEntries(found))
}

function contentHash(object: KubeObject): string {
  const before = contents.get(object)
  if (before !== undefined) return before
  const hash = hashOf([object['data'] ?? {}, object['binaryData'] ?? {}])
  contents.set(object, hash)
  return hash
}
