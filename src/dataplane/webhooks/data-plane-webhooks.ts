/** Lists the webhooks of the data plane kinds and maps their paths to handlers. */
import type { KindDefinition } from '../../api/crd.ts'
import type { AdmissionHandler } from '../../kube/admission.ts'
import { type Webhook, webhookPath } from '../../webhooks/webhook-configuration.ts'
import { dataPlaneNodeKind, dataPlaneRoleKind } from '../kinds/data-plane.ts'
import { type DataPlaneLookup, defaultNode, validateNode, validateRole } from './role-and-node.ts'
import { defaultService, type ServiceRules, validateService } from './service-object.ts'

const webhook = (
  kind: Webhook['kind'],
  { group, version, plural, kind: name }: KindDefinition,
  operations: Webhook['operations'],
): Webhook => ({ kind, group, version, plural, singular: name.toLowerCase(), operations })

export function dataPlaneWebhooks(services: readonly Pick<ServiceRules, 'crd'>[]): readonly Webhook[] {
  return [
    webhook('mutate', dataPlaneNodeKind, ['CREATE']),
    webhook('validate', dataPlaneNodeKind, ['CREATE', 'UPDATE']),
    webhook('validate', dataPlaneRoleKind, ['CREATE', 'UPDATE', 'DELETE']),
    ...services.flatMap(({ crd }) => [
      webhook('mutate', crd, ['CREATE']),
      webhook('validate', crd, ['CREATE', 'UPDATE']),
    ]),
  ]
}

export function dataPlaneHandlers(
  lookup: DataPlaneLookup,
  services: readonly ServiceRules[],
  finalizer: string,
): Readonly<Record<string, AdmissionHandler>> {
  const annotations = services.map(({ annotation }) => annotation)
  const path = (kind: Webhook['kind'], crd: KindDefinition): string => webhookPath(webhook(kind, crd, []))
  const serviceHandlers = services.flatMap((rules): readonly (readonly [string, AdmissionHandler])[] => [
    [path('mutate', rules.crd), defaultService(lookup.env, rules)],
    [path('validate', rules.crd), validateService(lookup, rules)],
  ])
  return {
    [path('mutate', dataPlaneNodeKind)]: defaultNode(finalizer),
    [path('validate', dataPlaneNodeKind)]: validateNode(lookup, annotations),
    [path('validate', dataPlaneRoleKind)]: validateRole(lookup, annotations),
    ...Object.fromEntries(serviceHandlers),
  }
}
