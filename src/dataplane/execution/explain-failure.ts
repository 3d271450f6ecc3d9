/**
 * Explains why a step failed on a host: finds the cause in what Ansible reported, and gives it a code and a remedy.
 *
 * Pure. A message that no pattern matches stays as it is.
 */
import { finding, type Problem } from '../../errors/finding.ts'
import * as causes from '../findings/host-failures.ts'

/** The first match decides: a special cause comes before a general one. */
const patterns: readonly (readonly [RegExp, Problem<causes.HostFailure>])[] = [
  [/No space left on device|\bENOSPC\b|Errno 28\b|enough free space|disk quota exceeded/i, causes.diskFull],
  [
    /Permission denied \(publickey|Too many authentication failures|invalid format|error in libcrypto/,
    causes.sshKeyRefused,
  ],
  [
    /Missing sudo password|a password is required|not in the sudoers file|Incorrect sudo password|sudo: .*not found/i,
    causes.sudoRefused,
  ],
  [/Could not get lock|dpkg was interrupted|Could not acquire lock|held by process/i, causes.packagesLocked],
  [
    /No package matching|Unable to locate package|No match for argument|No package \S+ available|no installation candidate/i,
    causes.packageMissing,
  ],
  [
    /Failed to fetch|repomd\.xml|Failed to update apt cache|Failed to download metadata|does not have a Release file/i,
    causes.repositoryUnreachable,
  ],
  [
    /certificate verify failed|CERTIFICATE_VERIFY_FAILED|certificate has expired|SSLCertVerificationError/i,
    causes.certificateRefused,
  ],
  [/ACCESS_REFUSED|AccessRefused|Login was refused/, causes.busPasswordRefused],
  [
    /exceptions\.http\.Unauthorized|request you have made requires authentication|\(HTTP 401\)/,
    causes.apiPasswordRefused,
  ],
  [/impl_rabbit|amqp.*(refused|timed out|unreachable)|AMQP server on/i, causes.busUnreachable],
  [/exception\.ResourceProviderCreationFailed/, causes.providerRefused],
  [
    /Unable to establish connection to|exceptions\.connection\.|DiscoveryFailure|EndpointNotFound|EndpointURLNotFound|exception\.ResourceProvider\w+Failed|service for .* exists but does not have any supported versions/,
    causes.apiUnreachable,
  ],
  [
    /libvirt.*(Failed to connect|Cannot recv data|Connection (refused|reset))|Connection to libvirt|HypervisorUnavailable|stackloom-libvirt\.service does not start/i,
    causes.libvirtDead,
  ],
  [/oslo_config\.cfg|ConfigFile(Parse|Value)Error/, causes.configInvalid],
  [/the clock of the node is/, causes.clockDiffers],
  [/does not answer packets of \d+ bytes: .*(too long|Frag needed)/, causes.mtuTooSmall],
  [/does not answer packets of \d+ bytes/, causes.targetSilent],
  [/no interface of this node has the address/, causes.addressMissing],
  [/nmstate refused the network configuration/, causes.networkRefused],
  [/with the new network configuration the node could not be reached/, causes.networkRolledBack],
  [/Check that Podman can make a unit/, causes.podmanTooOld],
  [/does not reach the southbound database|OVN has no chassis/, causes.southboundUnreachable],
  [
    /manifest unknown|pinging container registry|initializing source docker|unable to copy from source/i,
    causes.imageMissing,
  ],
  [
    /python[\d.]*: (not found|No such file|command not found)|interpreter .* was not found|need to set the interpreter/i,
    causes.pythonMissing,
  ],
  [/the packages of .* are not known/, causes.systemUnknown],
  [
    /Could not resolve hostname|Name or service not known|name resolution|gaierror|Could not resolve '/i,
    causes.nameNotResolved,
  ],
  [
    /Failed to connect to the host via ssh|Connection (timed out|refused)|No route to host|Host is down/i,
    causes.hostUnreachable,
  ],
  [/\.service does not start/, causes.serviceNotStarted],
]

/** `message` begins with the host and, where it is known, the task: `edpm-compute-0: Install the packages: …`. */
export function explainFailure(message: string): string {
  const [, problem] = patterns.find(([pattern]) => pattern.test(message)) ?? []
  if (!problem) return message
  const { message: explained, remedy, code } = finding(problem, splitMessage(message))
  return `${explained} (${code}: ${remedy})`
}

function splitMessage(message: string): causes.HostFailure {
  const [host = '', task, ...rest] = message.split(': ')
  if (task === undefined) return { place: 'the run', detail: message }
  if (rest.length === 0) return { place: host, detail: task }
  return { place: `${host}: ${task}`, detail: rest.join(': ') }
}
