/** Names the differences between the configuration of nova-compute here and that of nova-operator 0.1.1, with their reasons. */

const accounts = ['keystone_authtoken', 'placement', 'glance', 'neutron', 'cinder', 'service_user']

/** Options that only one side has, or with other values. */
export const namedOptions: Readonly<Record<string, string>> = {
  'DEFAULT.debug': 'a setting for development',
  'DEFAULT.default_log_levels': 'that nova-compute is up is logged below the level of other messages',
  'DEFAULT.host': 'upstream has the host name of the container; here it is the name in the inventory',
  'DEFAULT.log_file': 'the unit logs to the journal',
  'DEFAULT.log_rotation_type': 'the unit logs to the journal',
  'DEFAULT.max_logfile_count': 'the unit logs to the journal',
  'DEFAULT.max_logfile_size_mb': 'the unit logs to the journal',
  'DEFAULT.my_ip': 'upstream lets nova-compute guess the address, which is wrong on a host with several networks',
  'DEFAULT.use_stderr': 'the unit logs to the journal',
  'cinder.os_region_name': 'region_name of upstream is no option of this section',
  'cinder.region_name': 'region_name of upstream is no option of this section',
  'neutron.service_metadata_proxy': 'read by the metadata API only',
  'service_user.region_name': 'upstream has it in every other section',
  'vnc.novncproxy_host': 'read by the proxy only',
  'vnc.novncproxy_port': 'read by the proxy only',
  'vnc.server_proxyclient_address': 'upstream refers to my_ip, which is set here',
  ...Object.fromEntries(accounts.map((name) => [`${name}.cafile`, 'upstream writes an empty one'])),
}

/** Options that only one side has, or with another value; sorted. */
export function differingOptions(
  theirs: Readonly<Record<string, string>>,
  ours: Readonly<Record<string, string>>,
): readonly string[] {
  const [left, right] = [normalise(theirs), normalise(ours)]
  return [...new Set([...left.keys(), ...right.keys()])].filter((key) => left.get(key) !== right.get(key)).toSorted()
}

/** oslo.config reads truth in any case. */
function normalise(values: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(values).map(([key, value]) => [key, /^(true|false)$/i.test(value) ? value.toLowerCase() : value]),
  )
}
