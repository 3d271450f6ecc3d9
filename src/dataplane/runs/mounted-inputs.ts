/**
 * What stands in the Secrets and ConfigMaps that a node's runs are given (`extraMounts`, `env`): part of the inputs, by its
 * content, so that a changed password reaches the hosts like a changed field.
 *
 * Pure. What is not there yet counts as such; the run itself waits for it.
 */

import type { KubeObject } from '../../api/object.ts'
import { requiredInputs, type Source, sourceKey } from '../execution/run-inputs.ts'
import type { RunnerSettings } from '../rules/inheritance.ts'
import { hashInputs } from './hash.ts'

type MountSettings = Pick<RunnerSettings, 'extraMounts' | 'env'>

const NONE: readonly Source[] = []
/** Asked for every node at every look: read once per value. */
const known = new WeakMap<MountSettings['extraMounts'], readonly Source[]>()
const contents = new WeakMap<KubeObject, string>()

export function findMountedSources({ extraMounts, env }: MountSettings): readonly Source[] {
  if (extraMounts.length === 0 && env.length === 0) return NONE
  const before = known.get(extraMounts)
  if (before) return before
  const needs = requiredInputs({ extraMounts: [...extraMounts], env: [...env] })
  const sources = needs.flatMap(({ oneOf }) => oneOf)
  known.set(extraMounts, sources)
  return sources
}

/** Undefined where nothing is mounted: then the inputs are what they would be without this. */
export function hashMountedSources(
  runner: MountSettings,
  find: (source: Source) => KubeObject | undefined,
): string | undefined {
  const sources = findMountedSources(runner)
  if (sources.length === 0) return undefined
  const found = sources.map((source) => {
    const object = find(source)
    return [sourceKey(source), object ? hashContent(object) : ''] as const
  })
  return hashInputs(Object.fromEntries(found))
}

function hashContent(object: KubeObject): string {
  const before = contents.get(object)
  if (before !== undefined) return before
  const hash = hashInputs([object['data'] ?? {}, object['binaryData'] ?? {}])
  contents.set(object, hash)
  return hash
}
