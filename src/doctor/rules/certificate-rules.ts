/**
 * Problems of certificates and application credentials: not issued, not renewed, about to end. Certificates in Secrets are read by
 * `stackloom certificates`.
 */
import type { KubeObject } from '../../api/object.ts'
import { ageMs, describeCommand, findCondition } from '../../api/raw-object.ts'
import { readEnd } from '../../certificates/credentials.ts'
import { type CertificateVerdict, judgeLifetime, type Lifetime } from '../../certificates/judge-certificates.ts'
import { readManagedCertificate, readRouteCertificate } from '../../certificates/read-certificates.ts'
import type { ClusterState } from '../cluster-state.ts'
import * as problems from '../findings/certificate-findings.ts'
import { links, type Rule, type RuleMatch, rule } from '../rule.ts'

const CERTIFICATE = 'cert-manager.io/Certificate'
const ROUTE = 'route.openshift.io/Route'
const APPLICATION_CREDENTIAL = 'keystone.openstack.org/KeystoneApplicationCredential'

const certificateNotReady = rule({
  id: 'kubernetes/certificate-not-issued',
  problem: problems.certificateNotReady,
  looksAt: [CERTIFICATE],
  link: links.certManager,
  match: (cluster) =>
    cluster.all(CERTIFICATE).flatMap((about) => {
      const ready = findCondition(about, 'Ready')
      if (ready?.status !== 'False') return []
      if (ageMs(ready.lastTransitionTime, cluster.now) < cluster.context.grace.errorMs) return []
      const reason = ready.message || ready.reason || 'no reason given'
      return [{ about, facts: { reason, describe: describeCommand(about) } }]
    }),
})

type EndFacts = Parameters<typeof problems.certificateEnding.message>[0]

interface CertificateEnd {
  readonly about: KubeObject
  readonly lifetime: Lifetime
  readonly renewal: EndFacts['renewal']
}

function certificateEnds(cluster: ClusterState): readonly CertificateEnd[] {
  const managed = cluster.all(CERTIFICATE).flatMap((about) => {
    const { notAfter, renewal, issuer } = readManagedCertificate(about)
    const by = { by: `issuer ${issuer}`, needs: 'cert-manager runs and the issuer is ready' }
    return notAfter === undefined ? [] : [{ about, lifetime: { notAfter, renewal }, renewal: by }]
  })
  const routes = cluster.all(ROUTE).flatMap((about) => {
    const { content } = readRouteCertificate(about)[0] ?? {}
    return content ? [{ about, lifetime: content, renewal: undefined }] : []
  })
  const credentials = cluster.all(APPLICATION_CREDENTIAL).flatMap((about) => {
    const lifetime = readEnd(about)
    const by = { by: 'keystone-operator', needs: 'keystone-operator runs and Keystone answers' }
    return lifetime ? [{ about, lifetime, renewal: by }] : []
  })
  // Certificates of other programs of the cluster are not ours to report.
  return [...managed, ...routes, ...credentials].filter(({ about }) =>
    cluster.clouds.has(about.metadata.namespace ?? ''),
  )
}

function matchEnds(cluster: ClusterState, verdicts: readonly CertificateVerdict[]): readonly RuleMatch<EndFacts>[] {
  return cluster.derive(certificateEnds).flatMap(({ about, lifetime, renewal }) => {
    if (!verdicts.includes(judgeLifetime(lifetime, cluster.now))) return []
    const days = Math.floor((lifetime.notAfter - cluster.now) / 86_400_000)
    const count = `${Math.abs(days)} ${Math.abs(days) === 1 ? 'day' : 'days'}`
    const facts = {
      end: days < 0 ? `${count} ago` : `in ${count}`,
      date: new Date(lifetime.notAfter).toISOString().slice(0, 10),
      renewal,
      describe: describeCommand(about),
    }
    return [{ about, facts }]
  })
}

const certificateCritical = rule({
  id: 'kubernetes/certificate-critical',
  problem: problems.certificateCritical,
  looksAt: [CERTIFICATE],
  also: [ROUTE, APPLICATION_CREDENTIAL],
  link: links.certManager,
  match: (cluster) => matchEnds(cluster, ['expired', 'critical']),
})

const certificateEnding = rule({
  id: 'kubernetes/certificate-ends-soon',
  problem: problems.certificateEnding,
  looksAt: [CERTIFICATE],
  also: [ROUTE, APPLICATION_CREDENTIAL],
  link: links.certManager,
  match: (cluster) => matchEnds(cluster, ['soon', 'due']),
})

export const certificateRules: readonly Rule[] = [certificateNotReady, certificateCritical, certificateEnding]
