<?xml version="1.0" encoding="UTF-8"?>
<!-- index.xsl - the master page.  Clients read it line by line: each of the
     scheduler's lines must begin at the start of a line and be spelled exactly
     so. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:import href="page.xsl"/>

<xsl:template name="head">
<xsl:for-each select="/index/scheduler">
<xsl:text>&#10;</xsl:text>
<link rel="boinc_scheduler" href="{.}"/>
<xsl:text>&#10;</xsl:text>
<xsl:comment>
<xsl:text>&#10;&lt;scheduler&gt;</xsl:text>
<xsl:value-of select="."/>
<xsl:text>&lt;/scheduler&gt;&#10;</xsl:text>
</xsl:comment>
<xsl:text>&#10;</xsl:text>
</xsl:for-each>
</xsl:template>

<xsl:template name="title">Welcome</xsl:template>

<xsl:template name="content">
<p>
<xsl:value-of select="$project_name"/>
<xsl:text> computes on computers of volunteers.</xsl:text>
</p>
<xsl:if test="/index/stopped = 1">
<p class="notice">The project is down for maintenance at the moment.</p>
</xsl:if>
<h2>Take part</h2>
<ol>
<li>Install the BOINC client on your computer.</li>
<li>
<xsl:text>In the BOINC Manager choose "Add project" and give this address: </xsl:text>
<code><xsl:value-of select="$master_url"/></code>
</li>
<li>
<xsl:choose>
<xsl:when test="/index/accounts_closed = 1">New accounts cannot be made at the moment; log in with the one you have.</xsl:when>
<xsl:otherwise>Make an account there, or log in with the one you have.</xsl:otherwise>
</xsl:choose>
</li>
</ol>
<h2>Computers that have work here</h2>
<xsl:choose>
<xsl:when test="/index/platforms/platform">
<ul>
<xsl:for-each select="/index/platforms/platform">
<li>
<xsl:value-of select="user_friendly_name"/>
<xsl:if test="plan_class">
<xsl:text> (</xsl:text>
<xsl:value-of select="plan_class"/>
<xsl:text>)</xsl:text>
</xsl:if>
</li>
</xsl:for-each>
</ul>
</xsl:when>
<xsl:otherwise>
<p>No application has been published yet.</p>
</xsl:otherwise>
</xsl:choose>
</xsl:template>
</xsl:stylesheet>
