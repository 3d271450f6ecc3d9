/**
 * Lists every problem that Stackloom can report, by code. `docs/findings` is generated from it.
 *
 * Codes: SL1 errors, kube, sandbox; SL2 site, plan; SL3 render; SL4 deploy; SL5 ipam; SL6 dns; SL7 data plane;
 * SL8 lab; SL9 verify, doctor.
 */

import { CORE_SCHEMA, load } from 'js-yaml'
import * as addresses from '../../addresses/findings.ts'
import * as backup from '../../backup/findings.ts'
import * as consoleServer from '../../console/server/findings.ts'
import * as dns from '../../controllers/dns/findings.ts'
import * as ipam from '../../controllers/ipam/findings.ts'
import { readData } from '../../data/data.ts'
import * as dataplaneDataPlane from '../../dataplane/findings/data-plane.ts'
import * as dataplaneHostFailures from '../../dataplane/findings/host-failures.ts'
import * as dataplaneRuns from '../../dataplane/findings/runs.ts'
import * as deployAccess from '../../deploy/findings/access.ts'
import * as deployAdopt from '../../deploy/findings/adopt.ts'
import * as deployDown from '../../deploy/findings/down.ts'
import * as deployHostRemoval from '../../deploy/findings/host-removal.ts'
import * as deployHosts from '../../deploy/findings/hosts.ts'
import * as deployUp from '../../deploy/findings/up.ts'
import * as deployUpdate from '../../deploy/findings/update.ts'
import * as doctorCertificates from '../../doctor/findings/certificate-findings.ts'
import * as doctorControlPlane from '../../doctor/findings/control-plane-findings.ts'
import * as doctorDataPlane from '../../doctor/findings/data-plane-findings.ts'
import * as doctorDns from '../../doctor/findings/dns-findings.ts'
import * as doctorIpam from '../../doctor/findings/ipam-findings.ts'
import * as doctorKubernetes from '../../doctor/findings/kubernetes-findings.ts'
import * as doctorMetallb from '../../doctor/findings/metallb-findings.ts'
import * as doctorMultus from '../../doctor/findings/multus-findings.ts'
import * as doctorNmstate from '../../doctor/findings/nmstate-findings.ts'
import * as doctorOlm from '../../doctor/findings/olm-findings.ts'
import * as doctorPending from '../../doctor/findings/pending-findings.ts'
import * as doctorWebhooks from '../../doctor/findings/webhooks-findings.ts'
import * as errorsCommon from '../../errors/common.ts'
import * as errorsFile from '../../errors/file.ts'
import type { Problem, Severity } from '../../errors/finding.ts'
import * as errorsNewFile from '../../errors/new-file.ts'
import * as fleet from '../../fleet/findings.ts'
import * as images from '../../images/findings.ts'
import * as ini from '../../ini/findings.ts'
import * as kubeApiServer from '../../kube/findings/api-server.ts'
import * as kubeConnection from '../../kube/findings/connection.ts'
import * as kubeRuntime from '../../kube/findings/runtime.ts'
import * as labKolla from '../../lab/findings/kolla.ts'
import * as labDoctor from '../../lab/findings/lab-doctor.ts'
import * as labFile from '../../lab/findings/lab-file.ts'
import * as labRun from '../../lab/findings/lab-run.ts'
import * as labRenderedTree from '../../lab/findings/rendered-tree.ts'
import * as netbox from '../../netbox/findings.ts'
import * as operator from '../../operator/findings.ts'
import * as planAddresses from '../../plan/findings/addresses.ts'
import * as planCapacity from '../../plan/findings/capacity.ts'
import * as planLock from '../../plan/findings/lock.ts'
import * as planSegments from '../../plan/findings/segments.ts'
import * as planSite from '../../plan/findings/site.ts'
import * as planSlots from '../../plan/slots/findings.ts'
import * as rehearse from '../../rehearse/findings.ts'
import * as render from '../../render/findings.ts'
import * as run from '../../run/findings.ts'
import * as sandbox from '../../sandbox/findings.ts'
import * as sandboxHosts from '../../sandbox/hosts/findings.ts'
import * as sandboxImages from '../../sandbox/images/findings.ts'
import * as site from '../../site/findings.ts'
import * as siteImportExisting from '../../site/import/findings/existing.ts'
import * as siteImportInstallYamls from '../../site/import/findings/install-yamls.ts'
import * as verifyCapacity from '../../verify/findings/capacity-findings.ts'
import * as verifyCheck from '../../verify/findings/check-findings.ts'
import * as verifyNetwork from '../../verify/findings/network-findings.ts'
import * as verifyProbe from '../../verify/findings/probe-findings.ts'

const modules: readonly object[] = [
  dataplaneDataPlane,
  dataplaneHostFailures,
  dataplaneHostFailures,
  dataplaneRuns,
  deployAccess,
  deployAdopt,
  deployDown,
  deployHostRemoval,
  deployHosts,
  deployUp,
  deployUpdate,
  addresses,
  consoleServer,
  backup,
  dns,
  doctorControlPlane,
  doctorDataPlane,
  doctorDns,
  doctorIpam,
  doctorCertificates,
  doctorKubernetes,
  doctorMetallb,
  doctorMultus,
  doctorNmstate,
  doctorOlm,
  doctorPending,
  doctorWebhooks,
  errorsCommon,
  errorsFile,
  errorsNewFile,
  fleet,
  images,
  ini,
  ipam,
  kubeApiServer,
  kubeConnection,
  kubeRuntime,
  labDoctor,
  labFile,
  labKolla,
  labRenderedTree,
  labRun,
  netbox,
  operator,
  planAddresses,
  planCapacity,
  planLock,
  planSegments,
  planSite,
  planSlots,
  rehearse,
  render,
  run,
  sandbox,
  sandboxHosts,
  sandboxImages,
  site,
  siteImportExisting,
  siteImportInstallYamls,
  verifyCapacity,
  verifyCheck,
  verifyNetwork,
  verifyProbe,
]

/** What is known about a problem without the facts of a case. */
export interface ListedProblem {
  readonly code: string
  readonly severity: Severity
  readonly title: string
  /** What it means, why it matters, what causes it. Markdown paragraphs. */
  readonly description: string
  /** The texts for the facts of the example. */
  readonly sample: { readonly message: string; readonly remedy: string }
}

interface ProblemText {
  readonly title: string
  readonly description: string
  readonly example?: Facts
}

/** Facts of any problem: those of an example fit, which a test holds. */
type Facts = Readonly<Record<string, never>>

const texts = parseTexts(readData('findings.yaml'))

const problems: readonly Problem<Facts>[] = modules
  .flatMap((module) => Object.values(module) as readonly Problem<Facts>[])
  .sort((a, b) => (a.code < b.code ? -1 : 1))

export const catalogue: ReadonlyMap<string, ListedProblem> = new Map(
  problems.map(({ code, severity, message, remedy }) => {
    const { title, description, example = {} } = findText(code)
    return [
      code,
      { code, severity, title, description, sample: { message: message(example), remedy: remedy(example) } },
    ]
  }),
)

/** The build writes the file as JSON, which is YAML too and is parsed in a small part of the time. */
function parseTexts(text: string): Readonly<Record<string, ProblemText>> {
  const value = text.startsWith('{') ? (JSON.parse(text) as unknown) : load(text, { schema: CORE_SCHEMA })
  return value as Readonly<Record<string, ProblemText>>
}

function findText(code: string): ProblemText {
  const text = texts[code]
  if (!text) throw new Error(`data/findings.yaml has no entry ${code}`)
  return text
}
