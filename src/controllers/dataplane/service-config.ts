/**
 * The configuration of a service: the generated file, what a person adds to it, and the hash that says whether a host has
 * it.
 *
 * Pure. customServiceConfig is read by oslo.config's rules before anything is made of it, and is passed on byte for byte.
 */
import type { ServiceObject } from '../../api/service-cr.ts'
import type { Finding } from '../../errors/finding.ts'
import { checkIni } from '../../ini/check.ts'
import type { Assignment } from '../../ini/parse.ts'
import { writeIni } from '../../ini/write.ts'
import { hashOf } from './hash.ts'
import type { ServiceDefinition, ServiceStep } from './service-definition.ts'

export type Facts = Readonly<Record<string, string>>

export type ServiceConfig =
  | { readonly kind: 'made'; readonly files: Readonly<Record<string, string>> }
  | { readonly kind: 'refused'; readonly findings: readonly Finding[] }

export function configOf(definition: ServiceDefinition, service: ServiceObject, facts: Facts): ServiceConfig {
  const { generatedFile, overrideFile, files, binding } = definition
  const { customServiceConfig = '', defaultConfigOverwrite = {} } = service.spec
  const options = definition.generate(facts)
  const written = writeIni(options, {
    header: ['Generated. What customServiceConfig says is read after this file and wins.'],
  })
  if (written.kind === 'refused') return written
  const generated = options.map((one): Assignment => ({ ...one, line: 0 }))
  const wrong = checkIni(customServiceConfig, { binding, generated }).filter(
    ({ severity }) => severity === 'error',
  )
  if (wrong.length > 0) return { kind: 'refused', findings: wrong }
  return {
    kind: 'made',
    files: {
      ...files,
      ...defaultConfigOverwrite,
      [generatedFile]: written.text,
      [overrideFile]: customServiceConfig,
    },
  }
}

export interface ServiceInputs {
  readonly service: ServiceObject
  readonly facts: Facts
  /** The text of the inventory. */
  readonly inventory: string
  readonly request: string | undefined
}

/**
 * The hash of what a step does to a host: the facts, not the wording that this version of the program makes of them, so
 * that an upgrade starts nothing.
 */
export function serviceStepInputs(
  step: ServiceStep,
  { service, facts, inventory, request }: ServiceInputs,
): string {
  const { customServiceConfig = '', defaultConfigOverwrite = {}, networkAttachments = [] } = service.spec
  const { ansibleEEContainerImage, dnsConfig } = service.spec
  return hashOf({
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
    request,
  })
}
