/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_PLUGINS_ETHER_TYPES_H
#define WEFT_PLUGINS_ETHER_TYPES_H

#include "plugins/words.h"

/* Protocols of a packet by number: include/uapi/linux/if_ether.h. */
static const struct word ether_types[] = {
	{ 0x0003, "ALL" },    { 0x0800, "IP" },      { 0x0806, "ARP" },      { 0x8035, "RARP" },    { 0x8100, "8021Q" },
	{ 0x86dd, "IPV6" },   { 0x8847, "MPLS_UC" }, { 0x8863, "PPP_DISC" }, { 0x8864, "PPP_SES" }, { 0x888e, "PAE" },
	{ 0x88a8, "8021AD" }, { 0x88cc, "LLDP" },    { 0x88e5, "MACSEC" },   { 0x88f7, "1588" },    { 0x00f6, "MCTP" },
	{ 0x000c, "CAN" },    { 0x000d, "CANFD" },
};

#endif
