/**
 * Lists every variable that the installed Kolla-Ansible reads: its defaults, the defaults of its roles, and variables
 * that roles use with `default(…)`.
 *
 *     node --import tsx tools/kolla-variables.ts      writes data/kolla-variables.txt
 */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { filesBelow } from './files.ts'
import { kollaVenv } from './lab-setup.ts'

/** Variables of the collection openstack.kolla (2025.2), which bootstraps the nodes. PyPI does not have it. */
const BOOTSTRAP = `
apparmor_remove_libvirt_profile apt_cache_valid_time ceph_apt_key_file ceph_apt_package ceph_apt_repo
ceph_apt_url ceph_url ceph_version ceph_yum_baseurl ceph_yum_gpgcheck ceph_yum_gpgkey ceph_yum_package
ceph_yum_url change_selinux container_engine containerd_configure_for_zun containerd_root_path
create_kolla_user create_kolla_user_sudoers customize_etc_hosts disable_firewall docker_apt_key_env
docker_apt_key_file docker_apt_package docker_apt_package_pin docker_apt_url docker_configure_for_zun
docker_custom_config docker_debug docker_disable_default_iptables_rules docker_disable_default_network
docker_disable_ip_forward docker_http_proxy docker_https_proxy docker_log_max_file docker_log_max_size
docker_no_proxy docker_packages docker_paths docker_registry docker_registry_ca docker_registry_insecure
docker_registry_mirrors docker_runtime_directory docker_sdk_additional_pip_packages
docker_sdk_core_pip_packages docker_sdk_osbpo_apt_repo docker_sdk_osbpo_apt_url docker_sdk_packages
docker_sdk_packages_dbus_deps_debian docker_sdk_packages_dbus_deps_redhat docker_sdk_packages_default
docker_sdk_upper_constraints_file docker_sdk_virtualenv_owner docker_storage_driver docker_systemd_reload
docker_ulimit_nofile docker_ulimit_nofile_hard docker_ulimit_nofile_soft docker_yum_baseurl
docker_yum_gpgcheck docker_yum_gpgkey docker_yum_package docker_yum_package_pin docker_yum_url
enable_docker_repo enable_multipathd enable_nova_libvirt_container epel_version epel_yum_package
git_http_proxy git_https_proxy kolla_group kolla_user node_config_directory package_action
podman_containers_config podman_custom_config podman_engine_config podman_healthcheck_events
podman_log_max_size podman_packages podman_paths podman_registry podman_registry_ca podman_registry_insecure
podman_registry_mirror podman_runtime_directory podman_sdk_additional_pip_packages
podman_sdk_core_pip_packages podman_sdk_osbpo_apt_url podman_sdk_packages
podman_sdk_packages_dbus_deps_debian podman_sdk_packages_dbus_deps_redhat podman_sdk_packages_default
podman_sdk_upper_constraints_file podman_sdk_virtualenv_owner podman_storage_driver redhat_pkg_install
redhat_pkg_removals run_default_subdirectories selinux_state ubuntu_pkg_install ubuntu_pkg_removals
virtualenv virtualenv_site_packages
`

export function findKollaVariables(): readonly string[] {
  const root = path.join(kollaVenv(), 'share/kolla-ansible/ansible')
  const names = new Set(BOOTSTRAP.split(/\s+/).filter((name) => name !== ''))
  for (const file of filesBelow(root, '.')) {
    const text = readFileSync(path.join(root, file), 'utf8')
    const found = /(^|\/)(group_vars|defaults)\//.test(file) ? namesSet(text) : namesRead(text)
    for (const name of found) names.add(name)
  }
  return [...names].toSorted()
}

function namesSet(text: string): readonly string[] {
  return [...text.matchAll(/^([a-z]\w*):/gm)].map((match) => match[1] as string)
}

/** `{{ some_name | default(…) }}`. Fields of other values and names of one word are not variables that users set. */
function namesRead(text: string): readonly string[] {
  return [...text.matchAll(/(?<![.\w])([a-z][a-z0-9]*_\w+)\s*\|\s*default\(/g)].map((match) => match[1] as string)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  writeFileSync('data/kolla-variables.txt', `${findKollaVariables().join('\n')}\n`)
