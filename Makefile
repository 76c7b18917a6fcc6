# Builds and installs what other programs and people use, on Linux:
#
#     make                               the libraries, and the command with its pages and completions
#     make install PREFIX=/usr/local     all of these; DESTDIR=... stages a package
#     make install-lib                   libtagmac for C and C++, and libtagmac-nettle for Nettle's names
#     make install-command               the command alone
#     make install-provider              the provider for OpenSSL, into MODULESDIR
#     make install-units                 the units of systemd for nightly audits, into UNITDIR
#     make install-lib MACS=PMAC-AES128  libtagmac with some MACs only, for small programs
#     make check PREFIX=/usr/local       programs in C against what is installed, by pkg-config and CMake
#     make uninstall PREFIX=/usr/local   all but the provider, which is the one file MODULESDIR/tagmac.so
#
# Needs Rust, GNU make, binutils and coreutils; `check` needs a C compiler, pkg-config and CMake, and
# the provider's MODULESDIR is where pkg-config says that OpenSSL looks. LIBDIR, INCLUDEDIR, MANDIR
# and the folders of completions may be set too. What is installed may be moved as a whole.

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
BASHDIR ?= $(DATADIR)/bash-completion/completions
ZSHDIR ?= $(DATADIR)/zsh/site-functions
FISHDIR ?= $(DATADIR)/fish/vendor_completions.d
UNITDIR ?= $(PREFIX)/lib/systemd/system
MODULESDIR ?= $(shell pkg-config --variable=modulesdir libcrypto)
CARGO ?= cargo
LD ?= ld
OBJCOPY ?= objcopy
INSTALL ?= install

root := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
capi := $(root)/crates/capi
CARGO_TARGET_DIR ?= $(root)/target
# The MACs to build, for small programs: MACS="PMAC-AES128 UMAC-64". All, if it is empty.
MACS ?=
ifneq ($(MACS),)
export TAGMAC_MACS := $(strip $(MACS))
# Not where other builds would find it and take it for the whole library.
override CARGO_TARGET_DIR := $(CARGO_TARGET_DIR)/macs
endif
export CARGO_TARGET_DIR
# A target of Rust's, for another machine than this one.
TARGET ?=
built := $(CARGO_TARGET_DIR)/$(if $(TARGET),$(TARGET)/)release
# What is installed is put together here.
out := $(built)/install

version := $(shell sed -n '/^\[workspace.package\]/,/^$$/s/^version = "\(.*\)"/\1/p' $(root)/Cargo.toml)
minor := $(basename $(version))
# Rust makes no shared libraries for musl.
nettle := $(if $(MACS)$(findstring musl,$(TARGET)),,tagmac-nettle tagmac-nettle4)
libraries := $(if $(findstring musl,$(TARGET)),,tagmac) $(nettle)
headers := tagmac.h tagmac_files.h tagmac_hazmat.h tagmac.hpp
# What Rust's standard library needs of the system, for those who link libtagmac.a. The unwinder is not
# among it: compilers add the one that goes with -static or without.
private := -lutil -lrt -lpthread -lm -ldl
cargo = $(CARGO) build --quiet --release --locked --manifest-path $(root)/Cargo.toml \
    $(if $(TARGET),--target $(TARGET))
# The way from one folder to another.
relative = $(shell realpath -sm --relative-to=$(1) $(2))

.PHONY: all lib command provider cargo-lib cargo-command cargo-provider check uninstall
.PHONY: install install-lib install-command install-provider install-units
all: cargo-all lib command
lib: $(libraries:%=$(out)/lib%.so) $(out)/libtagmac.a
command: $(out)/pages
provider: $(out)/tagmac.so

# All at once where all is wanted, which is faster than one after the other.
.PHONY: cargo-all
cargo-all:
	$(cargo) -p tagmac-capi $(nettle:%=-p %) -p tagmac-cli
cargo-lib:
	$(cargo) -p tagmac-capi $(nettle:%=-p %)
cargo-command:
	$(cargo) -p tagmac-cli
cargo-provider:
	$(cargo) -p tagmac-ossl

# The file has the whole version in its name, the linker's name is in the file.
define shared =
$(out)/lib$(1).so: cargo-lib
	mkdir -p $(out)
	rm -f $$@*
	$(OBJCOPY) --strip-debug $(built)/lib$(subst -,_,$(1)).so $$@.$(version)
	ln -s lib$(1).so.$(version) $(out)/$$$$(objdump -p $$@.$(version) | awk '/SONAME/ { print $$$$2 }')
	ln -s lib$(1).so.$(version) $$@
endef
$(foreach library,$(libraries),$(eval $(call shared,$(library))))

# One object in which only the names of the headers are global: those of Rust's standard library
# would meet those of any other library in Rust.
$(out)/libtagmac.a: cargo-lib
	mkdir -p $(out)
	rm -f $@
	# Bitcode is for another compiler than the one at hand.
	$(OBJCOPY) --strip-debug -R .llvmbc -R .llvmcmd $(built)/libtagmac.a $(out)/all.a
	$(LD) -r -o $(out)/tagmac.o --gc-sections $$(cat $(capi)/include/*.h | \
	    grep -o '\btagmac_[a-z_]*(' | tr -d '(' | sort -u | sed 's/^/-u /') $(out)/all.a
	$(OBJCOPY) --wildcard --keep-global-symbol='tagmac_*' $(out)/tagmac.o
	$(AR) rcsD $@ $(out)/tagmac.o
	rm $(out)/tagmac.o $(out)/all.a

# The command, and what it prints of itself.
$(out)/pages: cargo-command
	rm -rf $@
	mkdir -p $@
	$(OBJCOPY) --strip-all $(built)/tagmac $(out)/tagmac
	$(out)/tagmac man --output $@
	for shell in bash zsh fish; do $(out)/tagmac completions $$shell >$@/$$shell || exit 1; done

$(out)/tagmac.so: cargo-provider
	mkdir -p $(out)
	$(OBJCOPY) --strip-debug $(built)/libtagmac_provider.so $@

# Each finds the others by where it is itself.
fill = sed -e 's|@UP@|$(call relative,$(2),$(PREFIX))|' -e 's|@VERSION@|$(version)|' \
    -e 's|@LIB@|$(call relative,$(PREFIX),$(LIBDIR))|' -e 's|@PRIVATE@|$(private)|' \
    -e 's|@INCLUDE@|$(call relative,$(PREFIX),$(INCLUDEDIR))|' -e 's|@MINOR@|$(minor)|' \
    $(capi)/$(1).in >$(DESTDIR)$(2)/$(1)

install: all install-lib install-command

install-lib: lib
	$(INSTALL) -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(LIBDIR)/cmake/tagmac $(DESTDIR)$(INCLUDEDIR)
	for library in $(libraries); do \
	    $(INSTALL) -m 644 $(out)/lib$$library.so.$(version) $(DESTDIR)$(LIBDIR) && \
	    cp -P $(out)/lib$$library.so.? $(out)/lib$$library.so $(DESTDIR)$(LIBDIR) || exit 1; \
	done
	$(INSTALL) -m 644 $(out)/libtagmac.a $(DESTDIR)$(LIBDIR)
	$(INSTALL) -m 644 $(headers:%=$(capi)/include/%) $(DESTDIR)$(INCLUDEDIR)
	$(call fill,tagmac.pc,$(LIBDIR)/pkgconfig)
	$(call fill,tagmac-config.cmake,$(LIBDIR)/cmake/tagmac)
	$(call fill,tagmac-config-version.cmake,$(LIBDIR)/cmake/tagmac)

install-command: command
	$(INSTALL) -d $(addprefix $(DESTDIR),$(BINDIR) $(MANDIR)/man1 $(BASHDIR) $(ZSHDIR) $(FISHDIR))
	$(INSTALL) $(out)/tagmac $(DESTDIR)$(BINDIR)
	$(INSTALL) -m 644 $(out)/pages/*.1 $(DESTDIR)$(MANDIR)/man1
	$(INSTALL) -m 644 $(out)/pages/bash $(DESTDIR)$(BASHDIR)/tagmac
	$(INSTALL) -m 644 $(out)/pages/zsh $(DESTDIR)$(ZSHDIR)/_tagmac
	$(INSTALL) -m 644 $(out)/pages/fish $(DESTDIR)$(FISHDIR)/tagmac.fish

install-provider: provider
	@[ -n "$(MODULESDIR)" ] || { echo "make: expected MODULESDIR=FOLDER, found none" >&2; exit 1; }
	$(INSTALL) -d $(DESTDIR)$(MODULESDIR)
	$(INSTALL) -m 644 $(out)/tagmac.so $(DESTDIR)$(MODULESDIR)

install-units:
	$(INSTALL) -d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(DATADIR)/doc/tagmac/examples
	$(INSTALL) -m 644 $(root)/packaging/systemd/tagmac-audit@.* $(DESTDIR)$(UNITDIR)
	$(INSTALL) -m 644 $(root)/packaging/systemd/*.conf $(root)/packaging/systemd/alert@.service $(DESTDIR)$(DATADIR)/doc/tagmac/examples

check:
	$(root)/scripts/check-installed $(abspath $(DESTDIR)$(PREFIX)) $(call relative,$(PREFIX),$(LIBDIR))

uninstall:
	rm -f $(libraries:%=$(DESTDIR)$(LIBDIR)/lib%.so*) $(DESTDIR)$(LIBDIR)/libtagmac.a
	rm -f $(DESTDIR)$(LIBDIR)/pkgconfig/tagmac.pc
	rm -rf $(DESTDIR)$(LIBDIR)/cmake/tagmac
	rm -f $(headers:%=$(DESTDIR)$(INCLUDEDIR)/%)
	rm -f $(DESTDIR)$(BINDIR)/tagmac $(DESTDIR)$(MANDIR)/man1/tagmac.1 $(DESTDIR)$(MANDIR)/man1/tagmac-*.1
	rm -f $(DESTDIR)$(UNITDIR)/tagmac-audit@.service $(DESTDIR)$(UNITDIR)/tagmac-audit@.timer
	rm -rf $(DESTDIR)$(DATADIR)/doc/tagmac/examples
	rm -f $(DESTDIR)$(BASHDIR)/tagmac $(DESTDIR)$(ZSHDIR)/_tagmac $(DESTDIR)$(FISHDIR)/tagmac.fish
