/** The webhooks of the data plane kinds: which there are, and who answers them. */

import type { KindDefinition } from '../../api/crd.ts'
import type { AdmissionHandler } from '../../kube/admission.ts'
import { type Webhook, webhookPath } from '../../webhooks/webhook-configuration.ts'
import { dataPlaneNodeKind } from '../kinds/node.ts'
import { dataPlaneRoleKind } from '../kinds/role.ts'
import type { DataPlaneLookup } from './lookup.ts'
import { defaultNode, validateNode, validateRole } from './role-and-node.ts'
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
  view: DataPlaneLookup,
  services: readonly ServiceRules[],
  finalizer: string,
): Readonly<Record<string, AdmissionHandler>> {
  const annotations = services.map(({ annotation }) => annotation)
  const pathOf = (kind: Webhook['kind'], of: KindDefinition): string => webhookPath(webhook(kind, of, []))
  const ofServices = services.flatMap((rules): readonly (readonly [string, AdmissionHandler])[] => [
    [pathOf('mutate', rules.crd), defaultService(view.env, rules)],
    [pathOf('validate', rules.crd), validateService(view, rules)],
  ])
  return {
    [pathOf('mutate', dataPlaneNodeKind)]: defaultNode(finalizer),
    [pathOf('validate', dataPlaneNodeKind)]: validateNode(view, annotations),
    [pathOf('validate', dataPlaneRoleKind)]: validateRole(view, annotations),
    ...Object.fromEntries(ofServices),
  }
}
