/**
 * Resolves what follows from the specs of a node and its role, and keeps it per generation: a role with a thousand nodes
 * evaluates all of them often, and few of them change.
 */
import type { Finding } from '../../errors/finding.ts'
import type { CacheReader } from '../../kube/cache.ts'
import type { DataPlaneNode, DataPlaneRole, DataPlaneService } from '../kinds/data-plane.ts'
import { type AnsibleVars, type EffectiveNode, parseAnsibleVars, resolveNode } from '../rules/inheritance.ts'
import { checkNode, checkRole } from '../rules/role-and-node.ts'
import type { HostVars } from './inventory.ts'
import { hashStepInputs, type RunnableStep, resolveStep, type Step } from './phase-zero.ts'

export interface NodeSettings {
  readonly effective: EffectiveNode
  /** Errors in the specs themselves. */
  readonly problems: readonly Finding[]
}

/** The inputs of a step beside the effective node. */
export interface StepHashInputs {
  readonly addresses: HostVars
  readonly request: string | undefined
  readonly mounted: string | undefined
}

export interface NodeSettingsCache {
  readonly settings: (node: DataPlaneNode, role: DataPlaneRole | undefined) => NodeSettings
  readonly step: (namespace: string, name: string) => Step
  readonly stepHash: (effective: EffectiveNode, step: RunnableStep, inputs: StepHashInputs) => string
  /** For a node that is gone: what is kept of it may have the size of an object. */
  readonly forget: (node: DataPlaneNode) => void
}

/** Of all texts whose variables are kept: a tenant can change its own as often as it likes. */
const MAX_CHARACTERS = 8 * 1024 * 1024
const MAX_NODES = 100_000

export function createNodeSettingsCache(services: Pick<CacheReader<DataPlaneService>, 'get'>): NodeSettingsCache {
  const byNode = new Map<string, NodeSettings & { readonly generations: string }>()
  const varsByText = new Map<string, AnsibleVars>()
  let characters = 0
  const builtInSteps = new Map<string, Step>()
  const steps = new WeakMap<DataPlaneService, Step>()
  const hashes = new WeakMap<EffectiveNode, Map<Step, StepHashInputs & { readonly hash: string }>>()

  const parseVars = (text = ''): AnsibleVars => {
    const known = varsByText.get(text)
    if (known) return known
    if (characters > MAX_CHARACTERS) {
      varsByText.clear()
      characters = 0
    }
    const vars = parseAnsibleVars(text)
    varsByText.set(text, vars)
    characters += text.length
    return vars
  }
  return {
    settings: (node, role) => {
      const { uid, generation } = node.metadata
      if (uid === undefined || generation === undefined) return resolveSettings(node, role, parseVars)
      const generations = `${generation} ${role?.metadata.uid} ${role?.metadata.generation}`
      const known = byNode.get(uid)
      if (known?.generations === generations) return known
      if (byNode.size > MAX_NODES) byNode.clear()
      const resolved = { generations, ...resolveSettings(node, role, parseVars) }
      byNode.set(uid, resolved)
      return resolved
    },
    step: (namespace, name) => {
      const service = services.get(`${namespace}/${name}`)
      const known = service ? steps.get(service) : builtInSteps.get(name)
      if (known) return known
      const step = resolveStep(name, namespace, service)
      if (service) steps.set(service, step)
      // A name that is neither is a text of a tenant: it is not kept.
      else if (step.kind === 'runnable') builtInSteps.set(name, step)
      return step
    },
    stepHash: (effective, step, { addresses, request, mounted }) => {
      const byStep = hashes.get(effective) ?? new Map()
      const known = byStep.get(step)
      if (known?.addresses === addresses && known.request === request && known.mounted === mounted) return known.hash
      const hash = hashStepInputs(effective, addresses, step, request, mounted)
      byStep.set(step, { addresses, request, mounted, hash })
      hashes.set(effective, byStep)
      return hash
    },
    forget: ({ metadata }) => void byNode.delete(metadata.uid ?? ''),
  }
}

function resolveSettings(
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
  parseVars: (text: string | undefined) => AnsibleVars,
): NodeSettings {
  const found = [...(role ? checkRole(role, []) : []), ...checkNode(node, [])].map(({ finding }) => finding)
  const problems = found.filter(({ severity }) => severity === 'error')
  return { effective: resolveNode(node, role, parseVars), problems }
}
