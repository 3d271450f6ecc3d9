/** A cloud as the site reader would give it, for tests that start in the middle. */
import type { SiteFileCloud, SiteFileNetwork } from '../src/api/site.ts'
import type { Cloud } from '../src/site/site.ts'

const standard: Readonly<Record<string, SiteFileNetwork>> = {
  ctlplane: { roles: ['nodes', 'pods', 'vips', 'hosts'] },
  internalapi: { roles: ['nodes', 'pods', 'vips', 'hosts'] },
  storage: { roles: ['nodes', 'pods', 'vips', 'hosts'] },
  tenant: { roles: ['nodes', 'pods', 'vips', 'hosts'] },
  storagemgmt: { roles: ['nodes', 'pods', 'hosts'] },
  designateext: { roles: ['nodes', 'pods', 'vips'] },
}

export function testCloud(
  file: Partial<SiteFileCloud> = {},
  networks: Readonly<Record<string, SiteFileNetwork>> = standard,
): Cloud {
  const whole = { name: 'rhoso1', namespace: 'openstack', ...file }
  return {
    name: whole.name,
    namespace: whole.namespace,
    networks: Object.entries(networks).map(([name, settings]) => ({ name, settings, layers: [] })),
    file: whole,
    path: ['spec', 'clouds', 0],
  }
}
