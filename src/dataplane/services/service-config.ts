/**
 * The configuration of a service: the generated file, what a person adds to it, and the hash that says whether a host has
 * it.
 *
 * Pure. customServiceConfig is read by oslo.config's rules before anything is made of it, and is passed on byte for byte.
 */

import { checkIni } from '../../ini/check.ts'
import { parseIni } from '../../ini/parse.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import type { RunnerSettings } from '../rules/inheritance.ts'
import { hashInputs } from '../runs/hash.ts'
import type { ConfigFiles } from '../service-definitions/config-files.ts'
import type { ConfigFacts, ServiceDefinition, ServiceStep } from '../service-definitions/definition.ts'

export function buildServiceConfig(
  definition: ServiceDefinition,
  service: ServiceObject,
  facts: ConfigFacts,
): ConfigFiles {
  const { customServiceConfig = '', defaultConfigOverwrite = {} } = service.spec
  const made = definition.files(facts, customServiceConfig)
  if (made.kind === 'refused') return made
  const generated = parseIni(made.files[definition.generatedFile] ?? '').assignments
  const { binding } = definition
  const wrong = checkIni(customServiceConfig, { binding, generated }).filter(({ severity }) => severity === 'error')
  if (wrong.length > 0) return { kind: 'refused', findings: wrong }
  return { kind: 'files', files: { ...defaultConfigOverwrite, ...made.files } }
}

export interface ServiceInputs {
  readonly service: ServiceObject
  readonly facts: ConfigFacts
  /** The text of the inventory. */
  readonly inventory: string
  /** How its runs are made, and the hash of what they are given. */
  readonly runner: RunnerSettings | undefined
  readonly mounted: string | undefined
  readonly request: string | undefined
}

/**
 * The hash of what a step does to a host: the facts, not the wording that this version of the program makes of them, so
 * that an upgrade starts nothing.
 */
export function hashServiceStep(
  step: ServiceStep,
  { service, facts, inventory, runner, mounted, request }: ServiceInputs,
): string {
  const { customServiceConfig = '', defaultConfigOverwrite = {}, networkAttachments = [] } = service.spec
  const { ansibleEEContainerImage, dnsConfig } = service.spec
  return hashInputs({
    step: step.name,
    playbook: step.playbook,
    vars: step.extraVars?.(service),
    facts,
    customServiceConfig,
    defaultConfigOverwrite,
    networkAttachments,
    ansibleEEContainerImage,
    dnsConfig,
    inventory,
    // What nobody set is left out, so that a node without it has the inputs that it always had.
    extraMounts: runner?.extraMounts.length ? runner.extraMounts : undefined,
    env: runner?.env.length ? runner.env : undefined,
    ansibleTags: runner?.ansibleTags || undefined,
    ansibleSkipTags: runner?.ansibleSkipTags || undefined,
    mounted,
    request,
  })
}
