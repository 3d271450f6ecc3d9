/** Answers whether one more cloud fits into a site: plans it with the networks of the last cloud, without its pins. Pure. */
import { type Finding, hasErrors } from '../errors/finding.ts'
import type { Cloud, CloudNetwork, Path } from '../site/site.ts'
import { type PlanInput, planSite } from './planner.ts'

const NAME = 'one-more-cloud'

/** The errors that the additional cloud would have; empty if it fits. */
export function findObstacles(input: Omit<PlanInput, 'findings' | 'allowMove' | 'forget'>): readonly Finding[] {
  const { site } = input
  const last = site.clouds.at(-1)
  if (!last) return []
  const findings = planSite({ ...input, site: { ...site, clouds: [...site.clouds, withoutPins(last)] } }).plan.findings
  const mentions = ({ message, owners = [] }: Finding): boolean =>
    [message, ...owners].some((text) => text.includes(NAME))
  return findings.filter((found) => hasErrors([found]) && mentions(found))
}

function withoutPins({ file, networks, path }: Cloud): Cloud {
  const { name: _name, namespace: _namespace, networks: _networks, vips: _vips, hosts: _hosts, ...rest } = file
  return {
    name: NAME,
    namespace: NAME,
    file: { ...rest, name: NAME, namespace: NAME },
    networks: networks.map((network) => withoutOwnLayer(network, path)),
    path,
  }
}

function withoutOwnLayer({ name, layers }: CloudNetwork, cloud: Path): CloudNetwork {
  const kept = layers.filter((layer) => !layer.path || layer.path[1] !== cloud[1])
  const settings = Object.assign({}, ...kept.map((layer) => layer.settings)) as CloudNetwork['settings']
  return { name, settings, layers: kept }
}
