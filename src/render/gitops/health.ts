/**
 * When an object is healthy, for the kinds that neither Argo CD nor Flux knows: one table, told to Argo CD as Lua and to
 * Flux as CEL.
 */

export interface HealthRule {
  readonly apiVersion: string
  readonly kind: string
  /** Healthy when this condition is true … */
  readonly ready?: string
  /** … and failed when this one is. */
  readonly failed?: string
  /** Or healthy when `status.state` says this (OLM's Subscription has no such condition). */
  readonly state?: string
}

export const healthRules: readonly HealthRule[] = [
  { apiVersion: 'operators.coreos.com/v1alpha1', kind: 'Subscription', state: 'AtLatestKnown' },
  { apiVersion: 'nmstate.io/v1', kind: 'NMState', ready: 'Available', failed: 'Degraded' },
  {
    apiVersion: 'nmstate.io/v1',
    kind: 'NodeNetworkConfigurationPolicy',
    ready: 'Available',
    failed: 'Degraded',
  },
  { apiVersion: 'metallb.io/v1beta1', kind: 'MetalLB', ready: 'Available', failed: 'Degraded' },
  { apiVersion: 'operator.openstack.org/v1beta1', kind: 'OpenStack', ready: 'Ready' },
  { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackControlPlane', ready: 'Ready' },
  { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackVersion', ready: 'Initialized' },
  { apiVersion: 'network.openstack.org/v1beta1', kind: 'DNSData', ready: 'Ready' },
  { apiVersion: 'dataplane.openstack.org/v1beta1', kind: 'OpenStackDataPlaneNodeSet', ready: 'SetupReady' },
  { apiVersion: 'dataplane.openstack.org/v1beta1', kind: 'OpenStackDataPlaneDeployment', ready: 'Ready' },
]

export function findHealthRule(object: { readonly apiVersion: string; readonly kind: string }): HealthRule | undefined {
  return healthRules.find((rule) => rule.kind === object.kind && rule.apiVersion === object.apiVersion)
}

/** Argo CD's form: a script that looks at one object. */
export function formatLua({ kind, ready, failed, state }: HealthRule): string {
  const head = `local health = { status = "Progressing", message = "${kind} is not ready yet" }\nif obj.status == nil then return health end\n`
  if (state !== undefined) {
    return `${head}if obj.status.state == "${state}" then health.status = "Healthy"; health.message = obj.status.state end\nreturn health\n`
  }
  const failure = failed
    ? `  if condition.type == "${failed}" and condition.status == "True" then\n    return { status = "Degraded", message = condition.message or condition.reason }\n  end\n`
    : ''
  return `${head}for _, condition in ipairs(obj.status.conditions or {}) do
${failure}  if condition.type == "${ready}" and condition.status == "True" then
    health = { status = "Healthy", message = condition.message or condition.reason }
  elseif condition.type == "${ready}" then
    health.message = condition.message or condition.reason
  end
end
return health
`
}

/** Flux's form: expressions over one object. */
export function formatCel({ apiVersion, kind, ready, failed, state }: HealthRule): Readonly<Record<string, string>> {
  const condition = (type: string): string => `status.conditions.exists(e, e.type == '${type}' && e.status == 'True')`
  return {
    apiVersion,
    kind,
    current: state === undefined ? condition(ready ?? 'Ready') : `status.state == '${state}'`,
    ...(failed !== undefined && { failed: condition(failed) }),
  }
}
