#!/bin/sh
# Runs in place of the audit, under the settings of its unit. Reports what they allow.
report() { echo "$1" >>"$STATE_DIRECTORY/report"; }
touch /srv/new 2>/dev/null || report 'the tree is read-only'
[ "$(id -u)" = 0 ] || report 'the user is not root'
report "$(grep CapEff: /proc/self/status | tr -s '\t' ' ')"
report "network: $(bash -c ': 3<>/dev/tcp/127.0.0.1/1' 2>&1 | grep -oEm 1 'not supported|refused')"
cat /home/own.txt >/dev/null 2>&1 && report 'reads all homes'
stat -c %a "$CREDENTIALS_DIRECTORY/key" | grep -qE '^4[04]0$' && report 'the key is private'
[ -e /proc/1 ] || report 'other processes are hidden'
